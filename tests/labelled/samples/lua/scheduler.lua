-- Runs jobs at their time.

local json = require("cjson.safe")
local heap = require "scheduler.heap"
local log = require('scheduler.log').new("scheduler")
local insert, remove = table.insert, table.remove

local Scheduler = {}
Scheduler.__index = Scheduler

local MAX_JOBS = 1000
DEFAULT_PRIORITY = 5
local names = { "low", "normal", "high" }
local counter, running = 0, false

--- Makes a scheduler.
-- @param options table
function Scheduler.new(options, ...)
  options = options or {}
  local self = setmetatable({}, Scheduler)
  self.jobs = {}
  self.queue = heap.new(function(a, b) return a.at < b.at end)
  self.clock = options.clock or os.time
  self.name = options.name
  self.extra = { ... }
  return self
end

function Scheduler:add(name, run, at)
  if type(run) ~= "function" then
    error("run must be a function")
  elseif #self.jobs >= MAX_JOBS then
    return nil, "full"
  end
  counter = counter + 1
  local job = { id = counter, name = name, run = run, at = at or self.clock() }
  self.jobs[job.id] = job
  insert(self.queue, job)
  log:info("added " .. name .. " at " .. tostring(job.at))
  return job.id
end

function Scheduler:cancel(id)
  local job = assert(self.jobs[id], "no such job")
  job.cancelled = true
  self.jobs[id] = nil
end

function Scheduler:tick()
  local now = self.clock()
  while not self.queue:empty() do
    local job = self.queue:peek()
    if job.at > now or job.paused then break end
    self.queue:pop()
    if not job.cancelled then
      local ok, problem = pcall(job.run, job)
      if not ok then self:fail(job, problem) end
    end
  end
end

function Scheduler:fail(job, problem)
  self.last_error = problem
  log.warn(string.format("%s: %s", job.name, problem))
  if self.on_error then self.on_error(job, problem) end
end

function Scheduler.drain(scheduler)
  repeat
    scheduler:tick()
    local left = next(scheduler.jobs)
  until left == nil or not running
end

function Scheduler:each()
  return coroutine.wrap(function()
    for id, job in pairs(self.jobs) do
      coroutine.yield(id, job)
    end
  end)
end

Scheduler.__tostring = function(self)
  return "Scheduler " .. self.name
end

Scheduler.size = function(self) return #self.jobs end

local function priority_name(level)
  return names[level] or names[2]
end

local function by_priority(jobs, least)
  local found = {}
  for index = 1, #jobs, 1 do
    local job = jobs[index]
    if job.priority < least then goto continue end
    found[#found + 1] = job
    ::continue::
  end
  table.sort(found, function(a, b) return a.priority > b.priority end)
  return found
end

local once = function(run)
  local done = false
  return function(...)
    if done then return end
    done = true
    return run(...)
  end
end

local function swap(list, i, j)
  list[i], list[j] = list[j], list[i]
end

function load_jobs(path)
  local file, problem = io.open(path, "r")
  if not file then error({ code = 2, message = problem }, 2) end
  local text = file:read("*a")
  file:close()
  local data = json.decode(text)
  for _, entry in ipairs(data.jobs) do
    local run = load(entry.code)
    Scheduler.default:add(entry.name, run, entry.at)
  end
  return #data.jobs
end

function save_jobs(path, scheduler)
  local file <close> = io.open(path, "w")
  file:write(json.encode(scheduler.jobs)):flush()
end

local Timer = setmetatable({}, { __index = Scheduler })
Timer.__index = Timer

function Timer.new(interval)
  local self = Scheduler.new { name = "timer" }
  self.interval = interval
  return setmetatable(self, Timer)
end

function Timer:start(run)
  local function again(job)
    run(job)
    self:add("again", again, self.clock() + self.interval)
  end
  again()
  running = true
end

function Timer:stop() running = false end

function Timer:remaining(now)
  local last = self.queue:peek()
  return last and last.at - now or 0
end

Timer.util = {
  seconds = function(n) return n end,
  minutes = function(n) return n * 60 end,
}

function Timer.util.hours(n)
  return Timer.util.minutes(n) * 60
end

local function shell(command)
  local handle = io.popen(command .. " 2>&1")
  local output = handle:read "a"
  handle:close()
  return output
end

local function retry(times, run, ...)
  for attempt = 1, times do
    local ok, result = pcall(run, ...)
    if ok then
      return result
    end
    log:warn(("attempt %d failed"):format(attempt))
  end
  error("no luck")
end

local cache = setmetatable({}, { __mode = "v" })

local function cached(key, make)
  local value = cache[key]
  if value == nil then
    value = make(key)
    rawset(cache, key, value)
  end
  return value
end

local function describe(job)
  local lines = {}
  lines[#lines + 1] = [[
job]]
  lines.count, lines.last = #lines, job.name
  return table.concat(lines, "\n")
end

Scheduler.default = Scheduler.new()

return {
  Scheduler = Scheduler,
  Timer = Timer,
  swap = swap,
}
