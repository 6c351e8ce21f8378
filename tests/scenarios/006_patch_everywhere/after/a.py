new = 1
print(new)
new += new
