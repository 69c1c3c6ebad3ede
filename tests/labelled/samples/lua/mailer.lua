local socket = require("socket")

local _M = {}

_M.PORT = 25
_M.SERVER = os.getenv("MAIL_SERVER") or "localhost"
_M.__index = _M

local session = { __index = {} }

function session.__index:greet(domain)
  self.try(self.tp:check("2.."))
  return self.try(self.tp:command("EHLO", domain or _M.SERVER))
end

function session.__index:login(user, password)
  if not user or not password then return 1 end
  self.try(self.tp:command("AUTH", user))
end

local function sorted(headers)
  local names = {}
  for name in pairs(headers) do
    table.insert(names, name)
  end
  table.sort(names)
  return names
end

function _M.open(server, port)
  local s = setmetatable({ tp = socket.connect(server or _M.SERVER, port or _M.PORT) }, session)
  s.try = socket.newtry(function() s:close() end)
  return s
end

_M.hooks = {
  before = function(message) return message end,
  after = function() end,
}

_M.send = socket.protect(function(mail)
  local s = _M.open(mail.server, mail.port)
  s:greet(mail.domain)
  return s:close()
end)

return _M
