import type { Arbitrary } from 'fast-check';

export interface HostileProject {
  readonly settings: string;
  readonly manifests: readonly string[];
}

export const hostileProject: Arbitrary<HostileProject>;

export class HostileProjects {
  static open(library: object): Promise<HostileProjects>;
  check(project: HostileProject): Promise<void>;
  close(): Promise<void>;
}
