import { ERRORS, type ErrorCode } from '../error-codes.ts';
import { Refusal, refuse } from '../errors.ts';

/**
 * The effect on the connection of a failed statement: it is kept, or it is dropped, or all connections of the service
 * are dropped, because each of them leads to the same server.
 */
type ConnectionEffect = 'kept' | 'dropped' | 'all dropped';

interface DatabaseFailure {
  /**
   * SQLSTATEs or their first characters (https://www.postgresql.org/docs/18/errcodes-appendix.html). The longest match
   * applies. A failure that node-postgres detects has none.
   */
  states: readonly string[];
  code: ErrorCode;
  /** The message of the response. It contains no text of the server. */
  message: string;
  connection: ConnectionEffect;
  /** The server has undone the work, and the service repeats it before it refuses. */
  isRepeated?: true;
}

/** No connection could be established, or none was free in time. */
const UNREACHABLE: DatabaseFailure = {
  states: ['28', '3D000'],
  code: 'DEPENDENCY_UNAVAILABLE',
  message: 'The database cannot be reached.',
  connection: 'dropped',
};

/** The socket was closed or reset while a statement ran. */
const LOST: DatabaseFailure = {
  states: ['08'],
  code: 'DEPENDENCY_UNAVAILABLE',
  message: 'The connection to the database was lost. The operation may have been performed.',
  connection: 'dropped',
};

/** The server has not answered for longer than a statement may run. Other connections of this age lead to it, too. */
const SILENT: DatabaseFailure = {
  states: [],
  code: 'DEADLINE_EXCEEDED',
  message: 'The database did not respond in time. The operation may have been performed.',
  connection: 'all dropped',
};

/**
 * The table of database failures. The response, the repetition of the work and the effect on the connection derive from
 * it, and so does the reference page of errors. An error without an entry becomes INTERNAL.
 */
export const DATABASE_FAILURES: readonly DatabaseFailure[] = [
  UNREACHABLE,
  LOST,
  SILENT,
  {
    states: ['57P', '25P03', '25P04'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database closed the connection.',
    connection: 'dropped',
  },
  {
    states: ['58'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database cannot read or write its files.',
    connection: 'dropped',
  },
  {
    states: ['25006'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database is read-only and accepts no writes.',
    connection: 'all dropped',
  },
  {
    states: ['40001', '40P01'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'Concurrent changes of the same rows prevented the operation. Try again.',
    connection: 'kept',
    isRepeated: true,
  },
  {
    states: ['53100'],
    code: 'STORAGE_FULL',
    message: 'The database has no space left.',
    connection: 'kept',
  },
  {
    states: ['53300'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database accepts no more connections.',
    connection: 'dropped',
  },
  {
    states: ['53'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database lacks memory or another resource.',
    connection: 'kept',
  },
  {
    states: ['55P03'],
    code: 'DEPENDENCY_UNAVAILABLE',
    message: 'The database row is locked by another request. Try again.',
    connection: 'kept',
  },
  {
    states: ['57014'],
    code: 'DEADLINE_EXCEEDED',
    message: 'The database statement timed out.',
    connection: 'kept',
  },
  {
    states: ['22021', '22P02', '22P05'],
    code: 'INVALID_TEXT',
    message: 'A text contains a character that cannot be stored.',
    connection: 'kept',
  },
];

const BY_STATE = new Map(
  DATABASE_FAILURES.flatMap((failure) => failure.states.map((state) => [state, failure] as const)),
);
/** The lengths of the keys of BY_STATE, the longest first. */
const KEY_LENGTHS = [5, 3, 2];
const RETRY_AFTER_SECONDS = 1;
const UNIQUE_VIOLATION = '23505';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const INSUFFICIENT_PRIVILEGE = '42501';
const UNKNOWN_DATABASE = '3D000';
/** The server rejects a login, or a connection pooler does not know the user. */
const LOGIN_REJECTED = /^(28|08P01)/;
/** A server that ends the session reports one of these severities, with any SQLSTATE. */
const ENDS_SESSION = new Set(['FATAL', 'PANIC']);
/** The message of node-postgres when the server has not answered a statement within `query_timeout`. */
const NO_ANSWER = 'Query read timeout';

/** A failure without a SQLSTATE of the table. The cause is the error of the driver. */
class ConnectionFailure extends Error {
  readonly failure: DatabaseFailure;

  constructor(failure: DatabaseFailure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** Describes an error of the attempt to get a connection. */
export function asConnectFailure(error: unknown): unknown {
  return databaseFailureOf(error) ? error : new ConnectionFailure(UNREACHABLE, error);
}

/** Describes an error of work on a connection. `hasFailed` states whether that connection has failed meanwhile. */
export function asStatementFailure(error: unknown, hasFailed: boolean): unknown {
  if (error instanceof Refusal || databaseFailureOf(error)) return error;
  if (error instanceof Error && error.message === NO_ANSWER) return new ConnectionFailure(SILENT, error);
  return hasFailed ? new ConnectionFailure(LOST, error) : error;
}

/** Returns the SQLSTATE of a server's error, or the code of another error. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof ConnectionFailure) return sqlState(error.cause);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function databaseFailureOf(error: unknown): DatabaseFailure | undefined {
  if (error instanceof ConnectionFailure) return error.failure;
  const state = error instanceof Refusal ? undefined : sqlState(error);
  if (state?.length !== 5) return undefined;
  for (const length of KEY_LENGTHS) {
    const failure = BY_STATE.get(state.slice(0, length));
    if (failure) return failure;
  }
  return undefined;
}

/** Whether the work can be repeated at once, because the server has undone it. */
export function isRepeatable(error: unknown): boolean {
  return databaseFailureOf(error)?.isRepeated ?? false;
}

/** Returns the effect of an error of any kind on the connection of the failed work. */
export function connectionEffect(error: unknown): ConnectionEffect {
  const effect = databaseFailureOf(error)?.connection ?? 'kept';
  return effect === 'kept' && error instanceof Error && endsSession(error) ? 'dropped' : effect;
}

function endsSession(error: Error & { severity?: unknown }): boolean {
  return typeof error.severity === 'string' && ENDS_SESSION.has(error.severity);
}

/**
 * Whether a statement waited too long for a row of the table, and not for another lock. The server names the table in the
 * context of a wait for a row, in every language.
 */
export function isRowLocked(error: unknown, table: string): boolean {
  if (sqlState(error) !== LOCK_NOT_AVAILABLE) return false;
  const { where } = error as { where?: unknown };
  return typeof where === 'string' && where.includes(`"${table}"`);
}

/** Whether a row violates the unique index of this name. */
export function isDuplicate(error: unknown, index: string): boolean {
  if (sqlState(error) !== UNIQUE_VIOLATION) return false;
  return (error as { constraint?: unknown }).constraint === index;
}

/** Whether the login lacks a privilege for the statement. */
export function lacksPrivilege(error: unknown): error is Error {
  return sqlState(error) === INSUFFICIENT_PRIVILEGE;
}

/** Whether the server rejects the login or forbids it to connect to the database. */
export function isLoginRejected(error: unknown): boolean {
  return LOGIN_REJECTED.test(sqlState(error) ?? '') || lacksPrivilege(error);
}

/** Whether the server has no database of the requested name. */
export function isDatabaseUnknown(error: unknown): boolean {
  return sqlState(error) === UNKNOWN_DATABASE;
}

/** Maps a database error to a refusal. Other errors are returned unchanged and become INTERNAL. */
export function databaseRefusal(error: unknown, signal?: AbortSignal): unknown {
  const failure = databaseFailureOf(error);
  if (!failure) return error;
  if (signal?.aborted && sqlState(error) === QUERY_CANCELED)
    return refuse('CANCELLED', 'The caller disconnected before the response.');
  const { code, message } = failure;
  const retryAfter = retryAfterSeconds(failure);
  return refuse(code, message, {
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
    cause: error,
  });
}

/** Returns the seconds in `Retry-After`, which responses with status 503 have. */
export function retryAfterSeconds({ code }: Pick<DatabaseFailure, 'code'>): number | undefined {
  return ERRORS[code].status === 503 ? RETRY_AFTER_SECONDS : undefined;
}
