import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { type Database, openDatabase } from './database.ts';
import { migrate } from './migrations.ts';

export interface SchemaOptions {
  databaseUrl: string;
  log: Log;
  tracer: Tracer;
  metrics: Metrics;
  /** The schema that the service owns. */
  schema: string;
  /** Folder of its migrations. */
  migrations: URL;
  /** Connections at most. */
  pool: number;
}

/** Brings a service's schema up to date and connects to it. */
export async function openSchema({
  databaseUrl,
  log,
  tracer,
  metrics,
  schema,
  migrations,
  pool,
}: SchemaOptions): Promise<Database> {
  await migrate(databaseUrl, schema, migrations);
  const onIdleError = (error: Error) => log.warn({ err: error }, 'a database connection failed');
  return openDatabase({ url: databaseUrl, schema, pool, onIdleError, tracer, metrics });
}
