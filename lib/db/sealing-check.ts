import { createSealer, keyIdOf, missingSealingKey, type Sealer, type SealingKeySource } from '../sealing.ts';
import { type Database, type Statement, statement } from './database.ts';

interface SealedSecret {
  sealed: string;
  context: string;
}

const TEXT = 'The sealing key of this database is present.';
const CONTEXT = 'sealing check';

const READ = statement('sealing.read', 'select sealed_text as sealed from sealing_check');
const INSERT = statement(
  'sealing.insert',
  'insert into sealing_check (sealed_text) values ($1) on conflict do nothing',
);
const REPLACE = statement(
  'sealing.replace',
  'update sealing_check set sealed_text = $2 where sealed_text = $1',
);

interface SealedColumn {
  /** The name of the statement. */
  name: string;
  table: string;
  /** The column of sealed texts. An index on `split_part(…, '.', 2)` finds the keys without reading the table. */
  sealed: string;
  /** The column of their contexts. */
  context: string;
}

/** Declares the statement that returns one stored secret: one whose key is none of the ids in $1, if there is any. */
export function storedSecret({ name, table, sealed, context }: SealedColumn): Statement {
  const id = `split_part(${sealed}, '.', 2)`;
  return statement(
    name,
    `with recursive keys as (
       (select ${id} as id from ${table} where ${id} > '' order by ${id} limit 1)
       union all
       select (select ${id} from ${table} where ${id} > keys.id order by ${id} limit 1)
       from keys where keys.id is not null
     )
     select ${sealed} as sealed, ${context} as context from ${table}
     where ${id} >= (select id from keys where id is not null order by id = any ($1::text[]) limit 1)
     order by ${id} limit 1`,
  );
}

/**
 * Returns a sealer after it has opened the known text in the table `sealing_check` of a schema and one stored secret of each
 * of `secretStatements`, which are declared with `storedSecret`. Creates the text, and the key if the source has none, when
 * the database contains neither. Nothing is sealed and no key is created before the check has passed. Throws SealingKeyProblem.
 */
export async function openSealer(
  db: Database,
  source: SealingKeySource,
  secretStatements: readonly Statement[],
): Promise<Sealer> {
  const textOf = async () => (await db.rows<{ sealed: string }>(READ))[0]?.sealed;
  async function secretsOf(keyIds: readonly string[]): Promise<SealedSecret[]> {
    const found: SealedSecret[] = [];
    for (const query of secretStatements) found.push(...(await db.rows<SealedSecret>(query, [keyIds])));
    return found;
  }
  const text = await textOf();
  const given = await source.read();
  if (given === undefined) {
    const stored = text ?? (await secretsOf([]))[0]?.sealed;
    if (stored !== undefined) throw missingSealingKey(keyIdOf(stored), []);
  }
  const sealer = createSealer(given ?? (await source.create()));
  const open = ({ sealed, context }: SealedSecret) => {
    if (!sealer.keyIds.includes(keyIdOf(sealed))) throw missingSealingKey(keyIdOf(sealed), sealer.keyIds);
    sealer.open(sealed, context);
  };
  if (text !== undefined) open({ sealed: text, context: CONTEXT });
  for (const secret of await secretsOf(sealer.keyIds)) open(secret);
  if (text === undefined) {
    await db.change(INSERT, [sealer.seal(TEXT, CONTEXT)]);
    // Another process that started at the same time may have written the text with another key.
    open({ sealed: (await textOf()) ?? '', context: CONTEXT });
  } else if (keyIdOf(text) !== sealer.keyIds[0]) {
    // After a rotation the former key can be removed as soon as no secret needs it.
    await db.change(REPLACE, [text, sealer.seal(TEXT, CONTEXT)]);
  }
  return sealer;
}
