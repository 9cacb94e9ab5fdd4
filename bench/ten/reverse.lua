local s = string.rep("abcdefghij", 1000)
local n = 0 -- so that every call counts
for i = 1, 40000 do n = n + #s:reverse() end
print(n)
