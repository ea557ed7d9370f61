import { HookEventName } from '../../../protocol/types.js';
import { callTests, commands, type Guard } from '../guard.js';

const name = 'protect-delete';

/** What nobody gets back, of a disk. */
const FINAL = commands(`
  mkfs*|mke2fs|mkswap|wipefs|shred|srm|wipe|blkdiscard|fdisk|sfdisk|parted|lvremove|vgremove *
  diskutil erase* *
  diskutil * eraseDisk *
  dd * of=/dev/* *
  rm * --no-preserve-root|/ *
  zpool|zfs destroy *
  cryptsetup luksFormat|erase *
`);

const MANY = commands(`
  rm * -r|-R|--recursive *
  rimraf *
  npx rimraf *
  find * -delete *
  rsync * --delete*|--del|--remove-source-files *
  git clean * -f|--force *
  xargs * rm *
  fd * -X|-x rm *
  find * -exec|-execdir|-ok|-okdir rm|*/rm *
  docker|podman system prune *
  docker volume rm|prune *
  docker compose * down * -v|--volumes *
  docker-compose * down * -v|--volumes *
  podman volume rm *
  dropdb *
  redis-cli * FLUSHALL|FLUSHDB *
  crontab * -r *
`);

/** Made again by a build. */
const BUILT = [
  'node_modules',
  'dist',
  'build',
  'out',
  'target',
  'coverage',
  'tmp',
  '.cache',
  '.next',
  '.nuxt',
  '.turbo',
  '.parcel-cache',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
  '.venv',
  '__pycache__',
];

/** One folder alone, so that nothing else goes with it. */
const HARMLESS = BUILT.flatMap((folder) =>
  ['-rf', '-r'].flatMap((option) =>
    ['', '*/'].map((before) => `!Bash(rm ${option} ${before}${folder})`),
  ),
);

export const protectDelete: Guard = {
  name,
  covers:
    'Denies to erase disks (mkfs, dd to a device, shred, rm -r /); asks before rm -r outside of build folders, find -delete, git clean, rsync --delete, volumes of docker, and the like.',
  misses:
    'Not covered: single files (rm FILE, or >), what a script or a program deletes by itself, SQL, and deletions in a cloud (protect-deploy): keep backups.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [...FINAL, '!Bash(dd * of=/dev/null *)'],
        hooks: [
          {
            type: 'rule',
            name,
            description: 'No disk is erased.',
            decision: 'deny',
            reason: 'Nobody gets this back. Say what you wanted to free, and let the user do it.',
          },
        ],
      },
    },
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [...MANY, ...HARMLESS],
        hooks: [
          {
            type: 'rule',
            name: `${name}-ask`,
            description: 'Asks before many files are deleted.',
            decision: 'ask',
            reason:
              'This deletes more than one file. Delete what a build makes folder by folder, such as rm -rf dist, and other files by name.',
          },
        ],
      },
    },
  ],
  tests: callTests(name, {
    block: ['shred -u notes.txt', 'dd if=/dev/zero of=/dev/sda', 'rm -rf /'],
    ask: ['rm -rf src', 'sudo rm -fR docs', 'find . -name "*.ts" -delete', 'git clean -fdx'],
    pass: ['rm -rf dist', 'rm notes.txt', 'git commit -m "rm -rf is asked about"'],
  }),
};
