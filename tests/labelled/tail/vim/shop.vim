" Stock keeping.
let g:limit = 100
let s:cache = {}

" Adds one.
function! s:Add(item, ...) abort
  let l:x = 1
  return l:x
endfunction

function shop#total() abort
  return 0
endfunction

command! -nargs=1 Shop call s:Add(<q-args>)
augroup shop
  autocmd BufRead * call s:Add(1)
augroup END
nnoremap <leader>s :Shop<CR>
