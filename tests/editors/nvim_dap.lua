-- Debugs $DYNASCOPE_FILE with nvim-dap ($DYNASCOPE_NVIM_DAP), as docs/editors.md ($DYNASCOPE_CONFIGURATION) configures it:
-- a breakpoint at $DYNASCOPE_LINE, a step, an evaluation, on to the end. Writes what a user would see to $DYNASCOPE_RESULT.
local env = vim.env
local result = { stops = {} }

local function finish()
  local file = io.open(env.DYNASCOPE_RESULT, 'w')
  file:write(vim.json.encode(result))
  file:close()
  vim.cmd('qall!')
end

local function main()
  vim.opt.runtimepath:prepend(env.DYNASCOPE_NVIM_DAP)
  local dap = require('dap')
  assert(loadstring(env.DYNASCOPE_CONFIGURATION))()

  local scopes
  dap.listeners.after.scopes['test'] = function(session, problem, answer)
    scopes = not problem and { frame = session.current_frame, names = vim.tbl_map(function(each) return each.name end, answer.scopes) }
  end
  local ended = false
  dap.listeners.after.event_terminated['test'] = function() ended = true end
  result.output = ''
  dap.listeners.after.event_output['test'] = function(_, body) result.output = result.output .. body.output end

  local function stop()
    assert(vim.wait(120000, function() return scopes or ended end, 50), 'no stop')
    assert(not ended, 'the program ended: ' .. result.output)
    local here = { name = scopes.frame.name, line = scopes.frame.line, scopes = scopes.names }
    scopes = nil
    local value
    dap.session():request('evaluate', { expression = 'x', frameId = dap.session().current_frame.id, context = 'repl' },
      function(problem, answer) value = problem and problem.message or answer.result end)
    assert(vim.wait(60000, function() return value end, 50), 'no answer')
    here.x = value
    table.insert(result.stops, here)
  end

  vim.cmd('edit ' .. env.DYNASCOPE_FILE)
  vim.api.nvim_win_set_cursor(0, { tonumber(env.DYNASCOPE_LINE), 0 })
  dap.set_breakpoint()
  dap.run(dap.configurations.python[1])
  stop()
  dap.step_over()
  stop()
  dap.continue()
  assert(vim.wait(120000, function() return ended end, 50), 'the session goes on')
end

local ok, problem = xpcall(main, debug.traceback)
if not ok then
  result.problem = problem
  result.buffers = vim.tbl_map(function(each) return vim.api.nvim_buf_get_lines(each, 0, -1, true) end, vim.api.nvim_list_bufs())
end
finish()
