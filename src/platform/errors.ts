/** Errors that the CLI distinguishes, without loading the code that throws them. */

/** No process serves the database at the moment. */
export class NotServingError extends Error {
  override name = "NotServingError";
}

/** The source of keys cannot be read, or holds something else. */
export class SigningKeysError extends Error {
  override name = "SigningKeysError";
}

/** The backup could not be created. The message contains the reason. */
export class BackupError extends Error {
  override name = "BackupError";
}

/** The target holds data that is not from an unfinished copy, or differs in the end. */
export class CopyError extends Error {
  override name = "CopyError";
}

/** The backup cannot replace the database. The message contains the reason. */
export class RestoreError extends Error {
  override name = "RestoreError";
}

/** The master key is missing, malformed, or not the one that the database was created with. */
export class MasterKeyError extends Error {
  override name = "MasterKeyError";
}
