import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { natsTlsOptions } from '../shared/natsServer.js';
import { countOption, cwdOption, traceOption } from '../shared/options.js';

export const serveCommand: CommandSpec = {
  name: 'serve',
  description: 'Answer events of agents on other machines with the hooks of a settings file',
  options: [
    new Option('--settings <file>', 'whose hooks answer; required'),
    cwdOption,
    new Option('--listen <host:port>', 'where to listen; port 0 is a free one').default(
      '127.0.0.1:8787',
    ),
    new Option('--tokens <file>', 'who may ask: lines TEAM/AGENT TOKEN, in a file of mode 600'),
    new Option('--cert <file>', "the server's certificate, as PEM"),
    new Option('--key <file>', 'its key, in a file of mode 600'),
    new Option(
      '--client-ca <file>',
      'who may ask: clients with a certificate of this authority, whose CN is TEAM/AGENT',
    ),
    countOption('--max-body <mib>', 'the largest body of a request over HTTP').default(16),
    countOption('--max-concurrent <n>', 'how many questions hooks work on at a time').default(64),
    new Option('--nats <url>', 'answer over NATS, too: nats://HOST:PORT'),
    new Option('--token-file <file>', 'the secret for NATS, in a file of mode 600'),
    ...natsTlsOptions,
    new Option('--no-record', 'do not send what hooks of this server do to the record at NATS'),
    new Option('--name <name>', 'what this server is called at NATS').default('policy'),
    new Option(
      '--approvers <file>',
      'who may answer questions at /approvals: lines NAME TOKEN, in a file of mode 600',
    ),
    new Option(
      '--origin <url>',
      'where browsers find /approvals, behind a proxy: https://HOST; default where it listens; needs --tokens or --client-ca',
    ),
    traceOption(),
  ],
  notes: `Answers POST /v1/events, POST /v1/events/<Event>, POST /v1/claude, GET /healthz and GET /metrics. The first line of stdout says
where. On addresses that other machines can reach, it wants TLS, and tokens or client certificates. SIGTERM ends it once
what was asked is answered; a second one ends it at once.`,
  exitCodes: '0 ended by a signal; 1 it cannot listen there; 2 wrong usage or settings',
  example: 'hookstack serve --settings policy.json --listen 127.0.0.1:8787',
  load: async () => (await import('./serve.js')).serve,
};
