" Made from the tables by `make docs`; what is changed here is lost.
" A .s file is ours if one of its first lines begins a part of one of our cores.
function! s:Detect() abort
  for line in getline(1, 200)
    if line =~# '^\s*\.core\s\+\%(cp\|dma\|fim\|nnp\|pe\|vc\)\>'
      setlocal filetype=macaw
      return
    endif
  endfor
endfunction
autocmd BufNewFile,BufRead *.s call s:Detect()
