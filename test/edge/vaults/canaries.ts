import { rowsOn } from '../../support/sql.ts';

/** Texts that must not appear anywhere, in the forms in which programs encode them. */
export class Canaries {
  readonly #forms = new Map<string, string[]>();

  /** Creates a secret with characters that each encoding changes. `name` is shown when it is found. */
  create(name: string): string {
    const secret = `canary-${name}-${this.#forms.size}+/?&="<>\\%~k3y`;
    this.#forms.set(secret, formsOf(secret));
    return secret;
  }

  get all(): string[] {
    return [...this.#forms.keys()];
  }

  /** Returns the names of the canaries that a text contains in any form. Bytes are searched as Latin-1 text. */
  in(content: string | Uint8Array): string[] {
    const text = typeof content === 'string' ? content : Buffer.from(content).toString('latin1');
    const lowerCase = text.toLowerCase();
    return [...this.#forms].flatMap(([secret, forms]) =>
      forms.some((form) => text.includes(form)) || lowerCase.includes(hexOf(secret))
        ? [secret.split('+')[0] ?? '']
        : [],
    );
  }
}

const hexOf = (text: string) => Buffer.from(text).toString('hex');

function formsOf(secret: string): string[] {
  const base64 = [0, 1, 2].flatMap((offset) => {
    const text = Buffer.from('.'.repeat(offset) + secret).toString('base64');
    // The characters at both ends depend on the bytes beside the secret.
    const inner = text.slice(offset === 0 ? 0 : 4, -4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  return [secret, json, percent, percent.toLowerCase(), form, ...base64];
}

/** Returns every row of every table as text, with the name of the table. Bytes are hexadecimal. */
export async function databaseDump(databaseUrl: string): Promise<{ table: string; row: string }[]> {
  const tables = await rowsOn<{ name: string }>(
    databaseUrl,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const dump: { table: string; row: string }[] = [];
  for (const { name } of tables) {
    const rows = await rowsOn<{ row: string }>(databaseUrl, `select to_jsonb(t)::text as row from ${name} t`);
    dump.push(...rows.map(({ row }) => ({ table: name, row })));
  }
  return dump;
}

type Secret = 'token' | 'value' | 'password' | 'key';

/** A valid body of each type, without its secret, and the member of the secret. */
export const CREDENTIALS: { body: Record<string, unknown>; secret: Secret }[] = [
  { body: { type: 'bearer', mcp_server_url: 'https://mcp.example.com/mcp' }, secret: 'token' },
  { body: { type: 'header', host: 'api.example.com', name: 'X-Api-Key' }, secret: 'value' },
  { body: { type: 'basic', host: 'git.example.com', username: 'deploy' }, secret: 'password' },
  {
    body: { type: 'environment_variable', name: 'GITHUB_TOKEN', allowed_hosts: ['api.github.com'] },
    secret: 'value',
  },
  { body: { type: 'model_key', provider: 'anthropic' }, secret: 'key' },
];
