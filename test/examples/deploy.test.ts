import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import path from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startNats } from '../helpers/natsServer.js';
import { Cli } from '../cli/helpers.js';

const FLEET = path.resolve(import.meta.dirname, '../../examples/fleet');
const SCHEMAS = path.resolve(import.meta.dirname, '../fixtures/schemas');
const cli = new Cli();
const closing: (() => Promise<unknown>)[] = [];

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const schemaOf = (name: string) =>
  JSON.parse(readFileSync(path.join(SCHEMAS, `${name}.json`), 'utf8')) as object;

const deploy = (file: string) => path.join(cli.project, 'deploy', file);
const read = (file: string) => readFileSync(deploy(file), 'utf8');

beforeEach(() => {
  cpSync(FLEET, cli.project, { recursive: true });
  execFileSync(deploy('secrets.sh'), ['one'], { stdio: 'pipe' });
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** What `hookstack` is given, with the paths and addresses of this machine in place of those of a container. */
function here(args: readonly string[], places: Readonly<Record<string, string>>): string[] {
  return args.map((arg) =>
    Object.entries(places).reduce((text, [from, to]) => text.replace(from, to), arg),
  );
}

/** Starts what stays, and waits for what it says when it is ready. */
async function start(args: readonly string[], stream: 'stdout' | 'stderr' = 'stdout') {
  const server = cli.start(args);
  closing.push(async () => {
    server.kill('SIGTERM');
    const ended = await server;
    expect(ended).toMatchObject({ exitCode: 0 });
  });
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(server[stream]!, 'data'), ended])) as [Buffer];
  // Each line is JSON.
  const { message } = JSON.parse(line.toString().split('\n', 1)[0]!) as { message: string };
  return /https:\S+/u.exec(message)?.[0] ?? '';
}

const places = () => ({
  '/run/secrets/hookstack/': `${cli.project}/deploy/secrets/`,
  '/run/secrets/': `${cli.project}/deploy/secrets/`,
  '/policy/.llxprt/': `${cli.project}/server/`,
  '0.0.0.0:8787': '127.0.0.1:0',
});

const statusOf = (url: string, headers = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    const ca = readFileSync(deploy('secrets/server.pem'));
    get(url, { ca, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on('error', reject);
  });

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly entrypoint?: string[];
        readonly command: string[];
        readonly secrets?: string[];
        readonly user?: string;
        readonly build?: { readonly args?: Readonly<Record<string, string>> };
      }
    >
  >;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = () => parse(read('compose.yaml'), { merge: true }) as Compose;

const imageOf = (word: string) => {
  const lines = read('Containerfile').replaceAll('\\\n', '').split('\n');
  const last = lines.findLast((each) => each.startsWith(`${word} `)) ?? '';
  return last.slice(word.length + 1);
};

/** What a line `ARG NAME=VALUE` of the Containerfile says. */
const argOf = (name: string) => {
  const containerfile = read('Containerfile').replaceAll('\\\n', '');
  return new RegExp(String.raw`^ARG ${name}="?(.*?)"?$`, 'mu').exec(containerfile)![1]!;
};

describe('compose.yaml', () => {
  it('is what the specification of Compose says, and each secret is one that secrets.sh makes', () => {
    const check = new Ajv({ strict: false, validateFormats: false }).compile(schemaOf('compose'));
    check(compose());
    expect(check.errors).toBe(null);
    const { secrets, services } = compose();
    for (const { file } of Object.values(secrets)) expect(existsSync(deploy(file))).toBe(true);
    for (const { secrets: used = [] } of Object.values(services)) {
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(used));
    }
    for (const name of ['policy-1', 'policy-2', 'collect']) {
      expect(services[name]).toMatchObject({
        user: '10001:10001',
        read_only: true,
        cap_drop: ['ALL'],
      });
    }
  });

  it('builds the image of the package of the registry, or of the one that PACKAGE names', () => {
    const { services } = compose();
    const args = { PACKAGE: `\${PACKAGE:-${argOf('PACKAGE')}}` };
    for (const name of ['policy-1', 'policy-2']) {
      expect(services[name]!.build).toMatchObject({ args });
    }
  });

  it('has NATS with TLS, two servers and a collector, which start and know each other', async () => {
    const { services } = compose();
    const conf = read('nats/nats-server.conf')
      .replace('"../../run/secrets/passwords.conf"', '"deploy/secrets/passwords.conf"')
      .replaceAll('/run/secrets/', `${deploy('secrets')}/`)
      .replace('"/data"', `"${cli.project}/data"`)
      .replace('http: 127.0.0.1:8222', 'http: 127.0.0.1:-1');
    const nats = await startNats(await cli.write('nats-server.conf', conf));
    closing.push(() => nats.dispose());
    const at = { ...places(), 'nats://nats:4222': `nats://localhost:${nats.port}` };
    const names = { '/var/lib/hookstack/': `${cli.project}/` };
    for (const name of ['policy-1', 'policy-2']) {
      const { entrypoint = [], command } = services[name]!;
      const program = JSON.parse(imageOf('ENTRYPOINT')) as string[];
      expect(entrypoint.slice(0, program.length)).toEqual(program);
      const args = [...entrypoint.slice(program.length), ...command];
      expect(args).toContain(`--name=${name}`);
      const url = await start(here(args, at));
      expect(await statusOf(`${url}/healthz`)).toBe(200);
      const token = /^ops\/prometheus (\S+)$/mu.exec(read('secrets/tokens'))![1];
      expect(await statusOf(`${url}/metrics`, { Authorization: `Bearer ${token}` })).toBe(200);
      expect(await statusOf(`${url}/metrics`)).toBe(401);
      expect(await statusOf(`${url}/approvals`)).toBe(200);
    }
    await start(here(services['collect']!.command, { ...at, ...names }), 'stderr');
    expect(existsSync(`${cli.project}/record`)).toBe(true);
  });
});

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly egress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly template?: {
      readonly spec: {
        readonly securityContext: object;
        readonly containers: readonly {
          readonly name: string;
          readonly args: string[];
          readonly env?: readonly { readonly name: string; readonly valueFrom: object }[];
          readonly securityContext: object;
          readonly volumeMounts: readonly { readonly name: string }[];
        }[];
        readonly volumes: readonly { readonly name: string; readonly secret?: object }[];
      };
    };
  };
}

describe('the manifests of Kubernetes', () => {
  const files = ['namespace.yaml', 'serve.yaml', 'collect.yaml', 'network.yaml'];
  const manifests = () =>
    files.flatMap((file) =>
      parseAllDocuments(read(`kubernetes/${file}`)).map((each) => each.toJS() as Manifest),
    );
  const { kinds, definitions } = schemaOf('kubernetes') as {
    kinds: Record<string, string>;
    definitions: object;
  };

  const faultsOf = (manifest: Manifest) => {
    const kind = `${manifest.apiVersion}/${manifest.kind}`;
    expect(Object.keys(kinds)).toContain(kind);
    const ajv = new Ajv({ strict: false, allErrors: true });
    const check = ajv.compile({ $ref: `#/definitions/${kinds[kind]}`, definitions });
    check(manifest);
    return check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`) ?? [];
  };

  it('have the fields that Kubernetes knows, of the right type', () => {
    for (const manifest of manifests()) expect(faultsOf(manifest)).toEqual([]);
    const [, deployment] = manifests();
    expect(faultsOf({ ...deployment!, sepc: {} } as Manifest)).not.toEqual([]);
  });

  /** The ports that pods may reach. */
  const portsOut = (yaml: string) => {
    const policy = parse(yaml) as Manifest;
    expect(faultsOf(policy)).toEqual([]);
    return policy.spec!.egress!.flatMap(({ ports }) => ports.map(({ port }) => port));
  };

  it('let nobody reach more than NATS and names, and have rules for the rest to take in', () => {
    const text = read('kubernetes/network.yaml');
    expect(portsOut(text)).toEqual([4222, 53, 53]);
    const taken = text.replaceAll(/^( +)# (?=- to:| +ports:)/gmu, '$1');
    expect(portsOut(taken)).toEqual([4222, 53, 53, 443, 4318]);
  });

  it.runIf(has('kubectl'))('are put together by kubectl, and its result is right, too', () => {
    const args = ['kustomize', deploy('kubernetes'), '--load-restrictor=LoadRestrictionsNone'];
    const built = execFileSync('kubectl', args, { encoding: 'utf8' });
    const all = parseAllDocuments(built).map((each) => each.toJS() as Manifest);
    for (const manifest of all) expect(faultsOf(manifest)).toEqual([]);
    const count = (kind: string) => all.filter((each) => each.kind === kind).length;
    expect(['Secret', 'ConfigMap', 'NetworkPolicy', 'PodDisruptionBudget'].map(count)).toEqual([
      1, 1, 1, 1,
    ]);
  });

  it('run without rights, and read secrets through their group', () => {
    const pods = manifests().flatMap(({ spec }) => (spec?.template ? [spec.template.spec] : []));
    expect(pods).toHaveLength(2);
    for (const { securityContext, containers, volumes } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, fsGroup: 10001 });
      expect(volumes.find(({ secret }) => secret)?.secret).toMatchObject({ defaultMode: 0o440 });
      for (const each of containers) {
        expect(each.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('start a server with what they say', async () => {
    const [, deployment] = manifests();
    const [container] = deployment!.spec!.template!.spec.containers;
    expect(container!.env).toEqual([
      { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ]);
    expect(container!.args).toContain('--name=$(POD)');
    const withoutNats = container!.args.filter((arg) => !/nats|token-file|approvers/u.test(arg));
    const pod = { '$(POD)': 'hookstack-5d4f8c7b9-x2k4q' };
    const url = await start(here(withoutNats, { ...places(), ...pod }));
    expect(await statusOf(`${url}/healthz`)).toBe(200);
  });
});

describe('the unit of systemd', () => {
  it.runIf(has('systemd-analyze'))('is a unit, and leaves the service little', () => {
    const file = path.join(cli.project, 'hookstack-serve.service');
    const text = read('hookstack-serve.service').replace(
      'ExecStart=hookstack',
      'ExecStart=/bin/true',
    );
    writeFileSync(file, text);
    const verified = spawnSync('systemd-analyze', ['verify', file], { encoding: 'utf8' });
    expect(verified.stderr).not.toContain('hookstack-serve.service');
    const args = ['security', '--offline=true', '--threshold=20', file];
    expect(spawnSync('systemd-analyze', args, { encoding: 'utf8' })).toMatchObject({ status: 0 });
  });

  it('starts a server with what it says', async () => {
    const unit = read('hookstack-serve.service').replaceAll('\\\n', '');
    const [, command = ''] = /^ExecStart=hookstack (.*)$/mu.exec(unit) ?? [];
    const url = await start(
      here(command.trim().split(/\s+/u), {
        '/etc/hookstack/policy.json': `${cli.project}/server/settings.json`,
        '/etc/hookstack/': `${deploy('secrets')}/`,
        '0.0.0.0:8787': '127.0.0.1:0',
      }),
    );
    expect(await statusOf(`${url}/healthz`)).toBe(200);
  });
});

it.runIf(has('haproxy'))('HAProxy takes its file, with the certificates of this fleet', () => {
  const pair =
    readFileSync(deploy('secrets/server.pem'), 'utf8') +
    readFileSync(deploy('secrets/server.key'), 'utf8');
  writeFileSync(deploy('secrets/pair.pem'), pair, { mode: 0o600 });
  const config = read('haproxy.cfg')
    .replaceAll(/\/etc\/haproxy\/(policy|approvals)\.example\.pem/gu, deploy('secrets/pair.pem'))
    .replaceAll('/etc/haproxy/servers.pem', deploy('secrets/server.pem'))
    .replaceAll(/policy-\d:8787/gu, '127.0.0.1:8787');
  writeFileSync(deploy('here.cfg'), config);
  const { status, stderr } = spawnSync('haproxy', ['-c', '-f', deploy('here.cfg')], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

const nameOf = (line: string) => /^\w+/u.exec(line)![0];

it('the Grafana dashboard has the metrics of a server, each with labels that it has', async () => {
  const settings = path.join(cli.project, 'server/settings.json');
  const files = ['--settings', settings, '--shadow', settings];
  const server = cli.start(['serve', ...files, '--listen', '127.0.0.1:0']);
  closing.push(async () => {
    server.kill('SIGTERM');
    await server;
  });
  const [line] = (await once(server.stdout!, 'data')) as [Buffer];
  const url = /http\S+/u.exec(line.toString())![0];
  const headers = { 'Content-Type': 'application/json' };
  const input = { file_path: 'production/prices' };
  const body = JSON.stringify({ tool_name: 'write_file', tool_input: input });
  await fetch(`${url}/v1/events/BeforeTool`, { method: 'POST', headers, body });
  await fetch(`${url}/v1/events`, { method: 'POST' });
  const page = async () => (await fetch(`${url}/metrics`)).text();
  // It is asked beside, and nobody waits for it.
  await expect.poll(page).toMatch(/^hookstack_shadow_total\{/mu);
  const lines = (await page()).split('\n').filter((each) => each.startsWith('hookstack_'));
  const dashboard = JSON.parse(read('grafana-dashboard.json')) as {
    panels: { id: number; targets: { expr: string; legendFormat: string }[] }[];
  };
  const targets = dashboard.panels.flatMap((panel) => panel.targets);
  for (const { expr, legendFormat } of targets) {
    const names = expr.match(/hookstack_\w+/gu) ?? [];
    const [, grouped = ''] = /by \(([\w, ]+)\)/u.exec(expr) ?? [];
    const inText = [...legendFormat.matchAll(/\{\{(\w+)\}\}/gu)].map(([, label]) => label);
    // Prometheus adds where it is from.
    const labels = [...grouped.split(', '), ...inText].filter(
      (each) => each && each !== 'instance',
    );
    const [value = ''] = /(?<=,)\w+="\w+"/u.exec(expr) ?? [];
    for (const name of names) {
      const series = lines.filter((each) => nameOf(each) === name);
      expect(series.some((each) => each.includes(value)) ? name : expr).toBe(name);
      for (const label of labels) expect(series[0]).toContain(`${label}="`);
    }
  }
  const shown = new Set(targets.flatMap(({ expr }) => expr.match(/hookstack_\w+/gu)));
  const all = lines.map(nameOf).filter((name) => !/_(?:sum|count|created)$/u.test(name));
  expect(shown).toEqual(new Set(all));
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

const PACKAGE = JSON.parse(
  readFileSync(path.resolve(import.meta.dirname, '../../package.json'), 'utf8'),
) as { readonly peerDependencies: Readonly<Record<string, string>> };
const OF_FLEETS = /^@nats-io|^@opentelemetry|^openid-client|^prom-client|^@bufbuild/u;

it('the Containerfile ends without rights, and starts what docs/fleet.md starts', async () => {
  expect(imageOf('USER')).toBe('10001:10001');
  expect(JSON.parse(imageOf('ENTRYPOINT'))).toEqual(['tini', '--', 'hookstack']);
  // What a fleet may load, and who embeds it need not have.
  const peers = Object.keys(PACKAGE.peerDependencies).filter((name) => OF_FLEETS.test(name));
  expect(peers.length).toBeGreaterThan(8);
  const installed = argOf('PEERS').split(/\s+/u);
  expect(installed.map((each) => each.replace(/@[^@]+$/u, ''))).toEqual(
    expect.arrayContaining(peers),
  );
  const args = JSON.parse(imageOf('CMD')) as string[];
  const settings = { '/policy/policy.json': `${cli.project}/server/settings.json` };
  const url = await start(here(args, { ...places(), ...settings }));
  expect(await statusOf(`${url}/healthz`)).toBe(200);
});
