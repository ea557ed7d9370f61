export {
  makePrivate,
  MAY_BE_WRITTEN_BY_OTHERS,
  ownFolder,
  removeOld,
} from '../../util/privateFolder.js';
