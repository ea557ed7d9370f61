import type { Guard } from './guard.js';
import { askBeforeInstall } from './guards/askBeforeInstall.js';
import { auditLog } from './guards/auditLog.js';
import { budget } from './guards/budget.js';
import { formatAfterEdit } from './guards/formatAfterEdit.js';
import { noNetwork } from './guards/noNetwork.js';
import { protectDelete } from './guards/protectDelete.js';
import { protectDeploy } from './guards/protectDeploy.js';
import { protectGit } from './guards/protectGit.js';
import { protectSecrets } from './guards/protectSecrets.js';
import { stayInProject } from './guards/stayInProject.js';

/** All that `hookstack add` knows, in the order of its list. */
export const guards: readonly Guard[] = [
  protectSecrets,
  protectGit,
  protectDelete,
  stayInProject,
  noNetwork,
  protectDeploy,
  askBeforeInstall,
  formatAfterEdit,
  auditLog,
  budget,
];
