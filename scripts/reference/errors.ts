import { type Category, ERRORS } from '../../lib/errors.ts';
import { page, table } from './table.ts';

const SECTIONS: Record<Category, string> = {
  request: 'The request',
  auth: 'Identity and permission',
  state: 'State of the resource',
  limit: 'Limits',
  dependency: 'What the service depends on',
  internal: 'The service itself',
};

const INTRODUCTION = `Every error answers with the same envelope. \`error.code\` is one of the names below and never
changes its meaning; \`error.message\` is for people and may. A retryable error can succeed when the same
request is sent again, after the \`Retry-After\` header where there is one. \`error.owner\` says who can
mend it.`;

/** One table for each category, in the order of the error table. */
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
  return page('Errors', 'lib/errors.ts', [INTRODUCTION, ...sections]);
}
