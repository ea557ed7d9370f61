import { HookEventName } from '../../../protocol/types.js';
import { callTests, paths, type Guard } from '../guard.js';

const name = 'stay-in-project';

/**
 * Where everybody may write. In one pattern each, as a link may lead from one of them to another: an exception holds where
 * both ends are of one pattern.
 */
const SCRATCH = `
  /**
  //{tmp,var/tmp,var/folders,private/tmp,private/var/folders}/**
  //dev/{null,stdout,stderr,tty}
`;

/** What is installed, and holds nothing of the user. */
const INSTALLED = `
  //{usr,bin,sbin,lib,lib64,opt,nix/store,Applications,Library/Developer,etc/alternatives,etc/os-release,etc/ssl/certs}/**
  //{dev/fd,proc/*/fd}/**
  //dev/{stdin,urandom,zero}
  //etc/hosts
  //proc/{cpuinfo,meminfo,version}
  ~/{.cargo/registry,.rustup,.nvm/versions,go/pkg/mod}/**
`;

export const stayInProject: Guard = {
  name,
  covers:
    'Denies to write or delete outside of the project and of the folders for temporary files, and asks before anything there is read, but for installed programs.',
  misses:
    'Not covered: a program that makes up paths itself, and what scripts of the project do: use a sandbox.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: ['Edit(//**)', ...paths('Edit', SCRATCH).map((each) => `!${each}`)],
        hooks: [
          {
            type: 'rule',
            name,
            description: 'Nothing outside of the project is written.',
            decision: 'deny',
            reason:
              'This writes outside of the project. Write to the project or to /tmp, and name the path as it is.',
          },
        ],
      },
    },
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [
          'Read(//**)',
          ...[...paths('Read', SCRATCH), ...paths('Read', INSTALLED)].map((each) => `!${each}`),
        ],
        hooks: [
          {
            type: 'rule',
            name: `${name}-ask`,
            description: 'Asks before files outside of the project are read.',
            decision: 'ask',
            reason: 'This reads outside of the project.',
          },
        ],
      },
    },
  ],
  tests: callTests(name, {
    block: [
      ['write_file', { file_path: '/opt/notes.txt', content: 'hello' }],
      'echo hello > /var/notes.txt',
      'cp README.md /etc/motd',
      ['replace', { file_path: '/etc/hosts', old_string: 'a', new_string: 'b' }],
    ],
    ask: [['read_file', { absolute_path: '/etc/passwd' }], 'cat /etc/group'],
    pass: [
      ['write_file', { file_path: 'src/notes.txt', content: 'hello' }],
      'echo hello > /tmp/notes.txt',
      'npm test 2> /dev/null',
      ['read_file', { absolute_path: 'README.md' }],
    ],
  }),
};
