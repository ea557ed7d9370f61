import type { CommandSpec } from '../shared/addCommand.js';
import { SHELLS } from './shells.js';

export const completionCommand: CommandSpec = {
  name: 'completion',
  description: 'Print a script that completes commands, options and values in your shell',
  arguments: { '<shell>': 'which shell' },
  choices: SHELLS,
  options: [],
  notes: `Where to load it:
  bash  in ~/.bashrc: source <(hookstack completion bash)
  zsh   in ~/.zshrc, behind compinit: source <(hookstack completion zsh)
  fish  hookstack completion fish > ~/.config/fish/completions/hookstack.fish`,
  exitCodes: '0 printed; 2 wrong usage',
  example: 'hookstack completion bash > ~/.local/share/bash-completion/completions/hookstack',
  load: async () => (await import('./completion.js')).completion,
};
