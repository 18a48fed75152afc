import { DATABASE_FAILURES, retryAfterSeconds } from '../../lib/db/failure.ts';
import { type Category, ERRORS } from '../../lib/error-codes.ts';
import { page, table } from './table.ts';

const SECTIONS: Record<Category, string> = {
  request: 'Request',
  auth: 'Identity and permission',
  state: 'State of the resource',
  limit: 'Limits',
  dependency: 'Dependencies',
  internal: 'Internal errors',
};

const INTRODUCTION = `All error responses have the same envelope. \`error.code\` is one of the codes below, whose meaning
never changes. \`error.message\` is for people and can change. A retryable error can succeed when the same request is sent
again; wait for the time in the \`Retry-After\` header if it is present. \`error.owner\` names the party that can fix it.`;

const DATABASE = `## Database failures

The first row with the SQLSTATE of a failure applies. The message of the response names the cause, and the log line with
the request id contains the error of the server. Any other SQLSTATE becomes \`INTERNAL\`.

- A connection that cannot be established, or is not free within 5 seconds, is a failure of the first row. A connection
  that is closed during a statement is a failure of the second row, and a statement without a response for 15 seconds one
  of the third row.
- A failed connection is replaced when it is next needed, so no restart is necessary.
- When the connection is lost during a write, the response is 503 or 504 although the write may be committed. A client
  that repeats a request to create a resource must send the same \`Idempotency-Key\`. A repeated webhook request starts
  another session.
- 55P03 becomes 409 \`IDEMPOTENCY_KEY_IN_USE\` when the lock that is not available belongs to the \`Idempotency-Key\` of the
  request.
- 57014 after the client has disconnected has no response.`;

/** Renders the table of database failures. More specific SQLSTATEs have precedence, so they come first. */
function renderDatabaseFailures(): string {
  const rows = DATABASE_FAILURES.map((failure) => {
    const { states, code, connection, isRepeated, message } = failure;
    return [
      states.map((state) => `\`${state.padEnd(5, 'x')}\``).join(', ') || '(none)',
      message,
      `\`${code}\``,
      String(ERRORS[code].status),
      ERRORS[code].retryable ? 'yes' : 'no',
      retryAfterSeconds(failure)?.toString() ?? '',
      isRepeated ? 'yes' : 'no',
      connection,
    ];
  });
  const head = [
    'SQLSTATE',
    'meaning',
    'code',
    'status',
    'retryable',
    '`Retry-After`',
    'repeated by the service',
    'connection',
  ];
  return `${DATABASE}\n\n${table(head, rows)}`;
}

/** Renders one table for each category, in the order of the error table. */
export function renderErrors(): string {
  const kinds = Object.entries(ERRORS);
  const sections = Object.entries(SECTIONS).map(([category, title]) => {
    const rows = kinds
      .filter(([, kind]) => kind.category === category)
      .map(([code, kind]) => [
        `\`${code}\``,
        String(kind.status),
        kind.retryable ? 'yes' : 'no',
        kind.owner,
        kind.about,
      ]);
    const head = ['code', 'status', 'retryable', 'owner', 'meaning'];
    return `## ${title}\n\nCategory \`${category}\`.\n\n${table(head, rows)}`;
  });
  return page('Errors', 'lib/error-codes.ts and lib/db/failure.ts', [
    INTRODUCTION,
    ...sections,
    renderDatabaseFailures(),
  ]);
}
