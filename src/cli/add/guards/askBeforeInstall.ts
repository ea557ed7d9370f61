import { HookEventName } from '../../../protocol/types.js';
import { callTests, commands, type Guard } from '../guard.js';

const name = 'ask-before-install';

const INSTALLING = commands(`
  npm install|i|in|ins|isntall|add|install-test|it|update|up|link|exec|x|init|create *
  npx -y|--yes|-p|--package *
  npx -* -y|--yes *
  npx *@* *
  pnpm install|i|add|update|up|dlx|create *
  pnpx|bunx *
  yarn
  yarn install|add|up|upgrade|dlx|create *
  yarn global add *
  yarn workspace * add *
  bun install|i|add|update|create|x *
  deno add|install *
  jsr add *
  npx jsr add *
  corepack|easy_install *
  pip|pip3|pip3.* install *
  python* -m pip install *
  python* -mpip install *
  py * -m pip install *
  pip download *
  pipx install|run|inject *
  uv|rye add *
  uv pip install|sync *
  uv tool install|run *
  uvx *
  uv run * --with *
  poetry add|install|update *
  pdm|pixi add|install *
  hatch dep *
  pipenv|conda|micromamba install *
  conda create *
  conda env create *
  mamba install|create *
  cargo add|install|binstall|update *
  cargo +* add|install *
  rustup * install|add *
  go get|install *
  go run *@* *
  gem install|update *
  bundle add|install|update *
  composer require|install|update|global *
  dotnet add *
  dotnet tool install *
  dotnet package add *
  nuget|cabal|stack|opam|luarocks|pod|brew install *
  mix archive.install|local.* *
  cpan|cpanm *
  dart|flutter pub add *
  dart pub global activate *
  swift package add-dependency *
  brew upgrade|reinstall|tap|bundle *
  apt * install|upgrade|full-upgrade *
  apt-get * install|upgrade|dist-upgrade *
  aptitude|microdnf install *
  dpkg * -i|--install *
  dnf * install|upgrade *
  yum * install|update *
  rpm * -i|-U|--install *
  zypper * install|in *
  pacman * -S*|-U* *
  yay * -S* *
  apk * add *
  emerge|xbps-install *
  pkg|snap|flatpak|port|guix|choco|winget|scoop|asdf|nvm|pyenv|sdk install *
  nix-env * -i* *
  nix profile install|add *
  nix run|shell *
  nix-shell * -p *
  asdf plugin add *
  mise install|use *
  code * --install-extension *
  gh extension install *
  kubectl krew install *
  helm|claude plugin install *
  claude mcp add* *
  gemini extensions install *
  gemini|codex mcp add *
  make * install *
  playwright install *
  npx playwright install *
`);

export const askBeforeInstall: Guard = {
  name,
  covers:
    'Asks before packages are installed, or fetched and run: npm, npx -y, pnpm, yarn, bun, pip, uv, poetry, cargo, go, gem, composer, brew, apt, dnf, apk, …, extensions of editors and agents, and curl … | sh.',
  misses:
    'Not covered: npm ci and what else takes a lockfile as it is, npx of what is installed, scripts that install, and lines that are written into package.json and the like.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: INSTALLING,
        hooks: [
          {
            type: 'rule',
            name,
            description: 'Asks before packages are installed.',
            decision: 'ask',
            reason:
              'This installs what others have written, which runs with all rights. See if the project has something for it already, and say what the package is for.',
          },
        ],
      },
    },
  ],
  tests: callTests(name, {
    ask: [
      'npm install left-pad',
      'cd web && pnpm add react',
      'python3 -m pip install requests',
      'sudo apt-get -y install jq',
      'uvx ruff',
    ],
    pass: [
      'npm ci',
      'npm run build',
      'npx tsc --noEmit',
      'pip list',
      'git commit -m "npm install"',
    ],
  }),
};
