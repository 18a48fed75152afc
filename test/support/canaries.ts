import { rowsOn } from './sql.ts';

/** The shortest text that does not occur by chance. */
const MIN_LENGTH = 16;

/** Texts that must not appear anywhere, in the forms in which programs encode them. */
export class Canaries {
  readonly #known = new Map<string, { name: string; forms: string[]; hex: string }>();

  /** Creates a secret with characters that each encoding changes. `name` is shown when it is found. */
  create(name: string): string {
    const label = `canary-${name}-${this.#known.size}`;
    return this.add(label, `${label}+/?&="<>\\%~k3y`);
  }

  /** Searches for a secret that another party has created, such as a token of a product. */
  add(name: string, secret: string): string {
    if (secret.length < MIN_LENGTH) throw new Error(`the secret ${name} is too short to be searched for`);
    this.#known.set(secret, { name, forms: formsOf(secret), hex: hexOf(secret) });
    return secret;
  }

  get all(): string[] {
    return [...this.#known.keys()];
  }

  /** Returns the names of the canaries that a text contains in any form. Bytes are searched as Latin-1 text. */
  in(content: string | Uint8Array): string[] {
    const text = typeof content === 'string' ? content : Buffer.from(content).toString('latin1');
    const lowerCase = text.toLowerCase();
    return [...this.#known.values()].flatMap(({ name, forms, hex }) =>
      forms.some((form) => text.includes(form)) || lowerCase.includes(hex) ? [name] : [],
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

/** A column of bytes in a row as JSON. */
const BYTES = /"\\\\x((?:[0-9a-f]{2})+)"/g;

/**
 * Returns every row of every table as text, with the name of the table. Bytes are hexadecimal, and follow once more as
 * Latin-1 text, in which a text within them is found in any form.
 */
export async function databaseDump(databaseUrl: string): Promise<{ table: string; row: string }[]> {
  const tables = await rowsOn<{ name: string }>(
    databaseUrl,
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const dump: { table: string; row: string }[] = [];
  for (const { name } of tables) {
    const rows = await rowsOn<{ row: string }>(databaseUrl, `select to_jsonb(t)::text as row from ${name} t`);
    for (const { row } of rows) {
      const bytes = Array.from(row.matchAll(BYTES), ([, hex = '']) =>
        Buffer.from(hex, 'hex').toString('latin1'),
      );
      dump.push({ table: name, row: [row, ...bytes].join('\n') });
    }
  }
  return dump;
}
