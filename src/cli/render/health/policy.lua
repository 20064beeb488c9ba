local found = {Degraded = {}, Progressing = {}, Healthy = {}}

local function list(value)
  return type(value) == "table" and value or {}
end

local function add(health, text)
  for _, known in ipairs(found[health]) do
    if known == text then
      return
    end
  end
  table.insert(found[health], text)
end

local status = list(obj.status)
local generation = tonumber(list(obj.metadata).generation)

local function judge(where, condition)
  local name, state, reason = tostring(condition.type), condition.status, condition.reason
  local seen = tonumber(condition.observedGeneration) or tonumber(status.observedGeneration)
  local stale = seen and generation and seen < generation
  local text = where .. name .. "=" .. tostring(state) .. (reason and " (" .. tostring(reason) .. ")" or "")
  if condition.message and condition.message ~= "" then
    text = text .. ": " .. tostring(condition.message)
  end
  if name == "Conflicted" then
    if state == "True" and not stale then
      add("Degraded", text)
    end
    return false, false
  end
  -- Some controllers write nothing else about an ancestor where the policy is merged or overridden.
  if name == "Overridden" or name == "Merged" then
    local holds = state == "True" and not stale
    if holds and name == "Overridden" then
      add("Healthy", "other policies override it somewhere, " .. text)
    end
    return holds, holds
  end
  if not positive[name] and name ~= "ResolvedRefs" then
    return false, false
  end
  if stale then
    add("Progressing", where .. name .. " is about an older generation: the controller has not seen the last change")
  elseif state == "True" then
    return name ~= "ResolvedRefs", name ~= "ResolvedRefs"
  elseif state ~= "False" or reason == "Pending" or reason == "Reconciling" then
    add("Progressing", text)
  elseif reason == "Overridden" then
    add("Healthy", "accepted; other policies override it, " .. text)
    return true, true
  elseif reason == "Merged" then
    return true, true
  elseif is_idle(name, reason, condition.message) then
    add("Healthy", "accepted; not applied, or not everywhere, " .. text)
    return true, true
  else
    add("Degraded", text)
  end
  return false, true
end

-- Whether the conditions say anything about the policy.
local function judge_all(where, conditions)
  local accepted, reported = false, false
  for _, condition in ipairs(list(conditions)) do
    local accepts, says = judge(where, list(condition))
    accepted, reported = accepted or accepts, reported or says
  end
  if not accepted and (reported or where ~= "") then
    add("Progressing", where .. "the controller does not say yet that it accepts the policy")
  end
  return reported or where ~= ""
end

local reported = false
if entries then
  -- Entries of other controllers count only if those that are known report nothing.
  local known = false
  for _, entry in ipairs(list(status[entries])) do
    known = known or controllers[tostring(list(entry).controllerName)]
  end
  for _, entry in ipairs(list(status[entries])) do
    entry = list(entry)
    if not known or controllers[tostring(entry.controllerName)] then
      local ancestor = list(entry.ancestorRef)
      local where = tostring(ancestor.kind or "Gateway") .. " "
      where = where .. (ancestor.namespace and tostring(ancestor.namespace) .. "/" or "") .. tostring(ancestor.name)
      where = where .. (ancestor.sectionName and "#" .. tostring(ancestor.sectionName) or "")
      reported = judge_all((ancestor.name and where or tostring(entry.controllerName)) .. ": ", entry.conditions) or reported
    end
  end
else
  reported = judge_all("", status.conditions)
end

for _, health in ipairs({"Degraded", "Progressing", "Healthy"}) do
  local lines = found[health]
  local more = #lines - 3
  if more > 0 then
    lines = {lines[1], lines[2], lines[3], "and " .. more .. " more"}
  end
  if #lines > 0 then
    return {status = health, message = table.concat(lines, "; ")}
  end
end
if reported then
  return {status = "Healthy", message = "accepted"}
end
return unreported
