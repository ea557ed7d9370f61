import { HookEventName } from '../../../protocol/types.js';
import { callTests, commands, paths, type Guard, type GuardGroup } from '../guard.js';

const name = 'protect-secrets';

/** Neither read nor changed. */
const FILES = `
  .env
  .env.*
  *.env
  .envrc
  *.pem
  *.key
  *.p12
  *.pfx
  *.jks
  *.keystore
  *.kdbx
  *.ppk
  id_rsa
  id_dsa
  id_ecdsa
  id_ecdsa_sk
  id_ed25519
  id_ed25519_sk
  .netrc
  _netrc
  .pgpass
  .htpasswd
  .git-credentials
  .pypirc
  credentials.json
  *service-account*.json
  *service_account*.json
  client_secret*.json
  secrets.yml
  secrets.yaml
  secrets.json
  secrets.toml
  *.tfstate
  *.tfvars
  /config/master.key
  ~/.ssh/**
  ~/.gnupg/**
  ~/.aws/**
  ~/.azure/**
  ~/.oci/**
  ~/.kube/**
  ~/.config/gcloud/**
  ~/.config/gh/**
  ~/.config/glab-cli/**
  ~/.config/doctl/**
  ~/.config/op/**
  ~/.config/rclone/**
  ~/.config/sops/**
  ~/.docker/config.json
  ~/.npmrc
  ~/.yarnrc.yml
  ~/.my.cnf
  ~/.boto
  ~/.s3cfg
  ~/.vault-token
  ~/.password-store/**
  ~/.terraform.d/**
  ~/.terraformrc
  ~/.cargo/credentials*
  ~/.gem/credentials
  ~/.m2/settings.xml
  ~/.gradle/gradle.properties
  ~/.local/share/keyrings/**
  ~/Library/Keychains/**
  ~/.claude/.credentials.json
  ~/.codex/auth.json
  ~/.gemini/oauth_creds.json
  //etc/shadow
  //proc/*/environ
`;

/** Names of files without values, and what is public of a pair of keys. */
const PUBLIC = `
  .env.example
  .env.sample
  .env.template
  .env.dist
  .env.defaults
  *.pub
  *.pub.pem
  cacert.pem
`;

const PRINTING = commands(`
  printenv|env|set
  printenv *KEY*|*SECRET*|*TOKEN*|*PASSWORD* *
  aws configure get|export-credentials *
  aws secretsmanager get-secret-value *
  aws ssm get-parameter* * --with-decryption *
  az account get-access-token *
  az keyvault secret show *
  gcloud auth print-access-token|print-identity-token *
  gcloud auth application-default print-access-token *
  gcloud secrets versions access *
  gh auth token *
  gh auth status * --show-token|-t *
  git credential fill *
  glab auth status * --show-token *
  heroku config *
  kubectl get secret*|secrets/* *
  kubectl config view * --raw *
  npm token *
  op|vault read *
  op item get *
  pass show *
  security find-generic-password|find-internet-password *
  gpg * --export-secret-keys *
  vault kv get *
  doppler secrets *
  sops * -d|--decrypt *
  sops decrypt *
`);

/** Published formats of keys. A word as a whole, as far as the format says where it ends. */
const REDACTED = [
  [
    '-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)',
    'private key',
  ],
  [
    String.raw`\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b|\bAIza[\w-]{35}|\bya29\.[\w.-]{20,}|\bGOCSPX-[\w-]{28}|\bdo[opr]_v1_[a-f0-9]{64}\b|\bdapi[a-f0-9]{32}\b|\bhv[sb]\.[\w-]{24,}|AccountKey=[\w+/]{86}==|\b\w{3}\dQ~[\w.~-]{31,34}`,
    'cloud key',
  ],
  [
    String.raw`(?<=aws_?secret_?(?:access_?)?key["']?\s{0,3}[=:]\s{0,3}["']?|AWS_SECRET_ACCESS_KEY["']?\s{0,3}[=:]\s{0,3}["']?)[A-Za-z0-9/+]{40}`,
    'cloud key',
  ],
  [
    String.raw`\bgh[opusr]_[\w.-]{36,}(?<![.-])|\bgithub_pat_\w{22,}|\bgl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|imt)-[\w.-]{20,}|\bATATT3[\w=-]{20,}|\bATBB\w{24,}|\bnpm_\w{36}|\bpypi-AgEIcHlwaS5vcmc[\w-]{20,}|\bdckr_(?:pat|oat)_[\w-]{27,}|\brubygems_[a-f0-9]{48}|\bcio\w{32}\b`,
    'token of a code host',
  ],
  [
    String.raw`\bsk-ant-[\w-]{20,}|\bsk-(?:proj|svcacct|admin|or-v1)-[\w-]{20,}|\bsk-\w{20}T3BlbkFJ\w{20}|\bhf_[A-Za-z]{34}|\bgsk_\w{52}|\bpplx-\w{48}|\br8_\w{37}|\bxai-\w{80}`,
    'key of a model',
  ],
  [
    String.raw`\bxox[abeoprs]-[\w-]{10,}|\bxapp-\d-[\w-]{10,}|hooks\.slack\.com/(?:services|workflows)/[\w/+-]{20,}|\b[rs]k_(?:live|test)_\w{10,}|\bwhsec_[\w+/=]{24,}|\bSG\.[\w-]{22}\.[\w-]{43}|\bSK[a-f0-9]{32}\b|\bkey-[a-f0-9]{32}\b|\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|\blin_api_\w{40}|\bsq0(?:atp|csp)-[\w-]{22,}|\bEAAA[\w-]{60}|\bNRAK-[A-Z0-9]{27}|\bglsa_\w{32}_[a-f0-9]{8}|\bAGE-SECRET-KEY-1[A-Z0-9]{58}`,
    'key of a service',
  ],
  [String.raw`\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}`, 'signed token'],
  [String.raw`(?<=://[^\s/:@]{0,100}:)[^\s/:@]{3,200}(?=@)`, 'password'],
].map(([pattern, what]) => ({ pattern, with: `[redacted: ${what}]` }));

function redacting(event: HookEventName, description: string): GuardGroup {
  return {
    event,
    group: { hooks: [{ type: 'rule', name, description, redact: REDACTED }] },
  };
}

/** Not a key of anybody. */
const NO_KEY = `ghp_${'a1B2'.repeat(9)}`;

export const protectSecrets: Guard = {
  name,
  covers:
    'Denies to read or change files with secrets (.env, private keys, credentials of cloud tools, ~/.ssh, ~/.aws, …) and commands that print them, and redacts published formats of keys in results, prompts and answers.',
  misses:
    'Not covered: prompts and answers in agents that have no model events, a program that opens files by names it makes up itself, and secrets of no published format elsewhere: use a sandbox. Answers are shown once they are complete.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [
          ...paths('Read', FILES),
          ...paths('Edit', FILES),
          ...PRINTING,
          ...[...paths('Read', PUBLIC), ...paths('Edit', PUBLIC)].map((each) => `!${each}`),
        ],
        hooks: [
          {
            type: 'rule',
            name,
            description: 'Files with secrets are neither read nor changed.',
            decision: 'deny',
            reason:
              "This holds secrets, which you must not read or change. Use the names of the variables, or a file such as .env.example, and ask the user to fill in the rest. To search, name folders or files that hold none (src, *.ts), or leave these out (--exclude='.env*').",
          },
        ],
      },
    },
    redacting(HookEventName.AfterTool, 'No key reaches the model in a result.'),
    redacting(HookEventName.BeforeModel, 'No key reaches the model in a prompt.'),
    redacting(HookEventName.AfterModel, 'No key is shown in an answer.'),
  ],
  tests: [
    ...callTests(name, {
      block: [
        ['read_file', { absolute_path: '.env' }],
        'cat .env',
        'base64 .e*v',
        `python3 -c 'print(open(".env").read())'`,
        'cp ~/.aws/credentials notes.txt',
        ['search_file_content', { pattern: 'KEY', path: '.env' }],
      ],
      pass: [
        'cat .env.example',
        ['read_file', { absolute_path: 'src/env.ts' }],
        'git commit -m "Read .env at the start"',
      ],
    }),
    {
      title: 'redacts-a-token-in-a-prompt',
      event: HookEventName.BeforeModel,
      input: { llm_request: { model: 'gemini-2.5-flash', contents: `It is ${NO_KEY}.` } },
      expect: {
        modified: {
          llm_request: {
            messages: [{ role: 'user', content: 'It is [redacted: token of a code host].' }],
          },
        },
      },
    },
  ],
};
