;;; -*- lexical-binding: t -*-
;;; As neovim.lua, in Emacs with eglot.
(require 'json)
(require 'python)
(require 'eglot)

(defvar result nil)

(defun seen (name value) (push (cons name value) result))

(defun wait-until (condition)
  (let ((left 600))
    (while (and (> left 0) (not (funcall condition)))
      (accept-process-output nil 0.1)
      (setq left (1- left)))))

(defun main ()
  (setq eglot-sync-connect t eglot-autoshutdown t make-backup-files nil)
  (add-to-list 'eglot-server-programs (list 'python-mode (getenv "DYNASCOPE_PYTHON") "-m" "dynascope" "lsp"))
  (find-file (getenv "DYNASCOPE_FILE"))
  (python-mode)
  (cl-letf (((symbol-function 'project-current) (lambda (&rest _) (cons 'transient default-directory))))
    (apply #'eglot (eglot--guess-contact)))
  (flymake-mode 1)
  (wait-until (lambda () (flymake-start) (flymake-diagnostics)))
  (seen 'diagnostics
        (vconcat (mapcar (lambda (each)
                           `((line . ,(line-number-at-pos (flymake-diagnostic-beg each)))
                             (message . ,(flymake-diagnostic-text each))))
                         (flymake-diagnostics))))
  (goto-char (point-min))
  (forward-line (1- (string-to-number (getenv "DYNASCOPE_LINE"))))
  (forward-char (string-to-number (getenv "DYNASCOPE_CHARACTER")))
  (let* ((server (eglot--current-server-or-lose))
         (hover (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)))
         (lenses (jsonrpc-request server :textDocument/codeLens
                                  (list :textDocument (eglot--TextDocumentIdentifier))))
         (here (plist-get (eglot--TextDocumentPositionParams) :position))
         (actions (jsonrpc-request server :textDocument/codeAction
                                   (list :textDocument (eglot--TextDocumentIdentifier)
                                         :range (list :start here :end here)
                                         :context (list :diagnostics [])))))
    (seen 'hover (plist-get (plist-get hover :contents) :value))
    (seen 'lenses (vconcat (mapcar (lambda (each) (plist-get (plist-get each :command) :title)) lenses)))
    (mapc (lambda (action)
            (when (equal (plist-get action :title) (getenv "DYNASCOPE_ACTION"))
              (eglot--apply-workspace-edit (plist-get action :edit))))
          actions))
  (seen 'text (buffer-substring-no-properties (point-min) (point-max))))

(condition-case problem (main) (error (seen 'problem (format "%S" problem))))
(with-temp-file (getenv "DYNASCOPE_RESULT") (insert (json-encode result)))
(dolist (buffer (buffer-list)) (with-current-buffer buffer (set-buffer-modified-p nil)))
(kill-emacs 0)
