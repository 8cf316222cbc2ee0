" Made from the tables by `make docs`; what is changed here is lost.
" Vim's own plugin for assembly has run before and leaves no way back: ours comes on top.
let b:did_ftplugin = 1
setlocal commentstring=#\ %s comments=:#,://
let b:undo_ftplugin = 'setlocal commentstring< comments<'
