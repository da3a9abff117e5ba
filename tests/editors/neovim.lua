-- Opens the file named by $DYNASCOPE_FILE, attaches the server $DYNASCOPE_PYTHON runs, and writes what a user would see
-- to $DYNASCOPE_RESULT: diagnostics, a hover, code lenses, and the buffer after a code action.
local env = vim.env
local result = {}

local function finish()
  local file = io.open(env.DYNASCOPE_RESULT, 'w')
  file:write(vim.json.encode(result))
  file:close()
  vim.cmd('qall!')
end

local function main()
  vim.cmd('edit ' .. env.DYNASCOPE_FILE)
  local buffer = vim.api.nvim_get_current_buf()
  local root = vim.fn.fnamemodify(env.DYNASCOPE_FILE, ':h')
  local client = vim.lsp.start_client({
    name = 'dynascope',
    cmd = { env.DYNASCOPE_PYTHON, '-m', 'dynascope', 'lsp' },
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = 'workspace' } },
  })
  vim.lsp.buf_attach_client(buffer, client)
  vim.wait(60000, function() return #vim.diagnostic.get(buffer) > 0 end, 50)
  result.diagnostics = vim.tbl_map(function(each)
    return { line = each.lnum + 1, message = each.message, source = each.source, code = each.code }
  end, vim.diagnostic.get(buffer))

  local line = tonumber(env.DYNASCOPE_LINE)
  local document = { uri = vim.uri_from_bufnr(buffer) }
  local position = { line = line - 1, character = tonumber(env.DYNASCOPE_CHARACTER) }
  local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
    return answers and answers[client] and answers[client].result
  end
  local hover = ask('textDocument/hover', { textDocument = document, position = position })
  result.hover = hover and hover.contents.value
  result.lenses = vim.tbl_map(function(each) return each.command.title end,
    ask('textDocument/codeLens', { textDocument = document }) or {})
  local here = { start = position, ['end'] = position }
  local actions = ask('textDocument/codeAction', { textDocument = document, range = here, context = { diagnostics = {} } })
  for _, action in ipairs(actions or {}) do
    if action.title == env.DYNASCOPE_ACTION then
      vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
    end
  end
  result.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n')
end

local ok, problem = xpcall(main, debug.traceback)
if not ok then result.problem = problem end
finish()
