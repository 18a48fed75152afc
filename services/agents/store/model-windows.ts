import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';

const FIND = statement('model_windows.find', 'select context_window from model_windows where model = $1');

const STORE = statement(
  'model_windows.store',
  `insert into model_windows (model, context_window, learned_at) values ($1, $2, $3)
   on conflict (model) do update set context_window = $2, learned_at = $3
   where model_windows.context_window <> $2`,
);

export type ModelWindowStore = ReturnType<typeof createModelWindowStore>;

/** The context windows of models that runners have learned, in tokens. */
export function createModelWindowStore(db: Database) {
  return {
    async find(model: string, options?: ReadOptions): Promise<number | undefined> {
      const [row] = await db.rows<{ context_window: number }>(FIND, [model], options);
      return row?.context_window;
    },

    async store(model: string, window: number, now: Date, options?: WriteOptions): Promise<void> {
      await db.change(STORE, [model, window, now], options);
    },
  };
}
