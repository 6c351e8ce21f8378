area area area
