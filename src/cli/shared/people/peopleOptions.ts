import { Option } from 'commander';

/** How people sign in, and what they may do. */
export interface PeopleOptions {
  readonly approvers?: string;
  readonly oidc?: string;
  readonly userHeader?: string;
  readonly groupsHeader?: string;
  readonly trustedProxy?: readonly string[];
  readonly roles?: string;
  /** `true`, or names of hooks. */
  readonly fourEyes?: true | readonly string[];
  /** Where browsers find the page. */
  readonly origin?: string;
}

/** Options of commands that let people sign in. */
export const peopleOptions = [
  new Option('--oidc <file>', 'sign people in at an OpenID provider, in place of --approvers'),
  new Option('--user-header <name>', 'who has signed in at a proxy, in place of --approvers'),
  new Option('--groups-header <name>', 'their groups, with "," between them'),
  new Option(
    '--trusted-proxy <address...>',
    'proxies whose headers count: addresses or networks; default this machine',
  ),
  new Option('--roles <file>', 'which groups and people may see and answer what'),
  new Option(
    '--four-eyes [hook...]',
    'two people have to allow what these hooks ask, by their names in the policy or at the agent; default all hooks',
  ),
];
