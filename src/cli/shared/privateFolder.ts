export {
  makePrivate,
  MAY_BE_WRITTEN_BY_OTHERS,
  ownFolder,
  removeOld,
  sessionFolder,
  SESSIONS,
} from '../../util/privateFolder.js';
