old = 1
print(old)
old += old
