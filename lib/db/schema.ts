import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { type Database, openDatabase } from './database.ts';
import { makeLogins } from './logins.ts';
import { migrate } from './migrations.ts';

export interface SchemaOptions {
  databaseUrl: string;
  /** What the passwords of the service's roles follow from. */
  serviceSecret: string;
  log: Log;
  tracer: Tracer;
  metrics: Metrics;
  /** The schema that the service owns. */
  schema: string;
  /** Folder of its migrations. */
  migrations: URL;
  /** Connections at most; as many more serve what is done on behalf of somebody. */
  pool: number;
  /** There is nobody to hide anything from. */
  oneUser?: boolean | undefined;
  /** Told when the service cannot log in as itself. */
  sharesLogin?: ((schema: string) => void) | undefined;
}

/** Brings a service's schema up to date and connects to it, as roles that own nothing there. */
export async function openSchema(options: SchemaOptions): Promise<Database> {
  const { databaseUrl, serviceSecret, log, tracer, metrics, schema, pool, oneUser } = options;
  const logins = await migrate(databaseUrl, schema, options.migrations, (client) =>
    makeLogins(client, databaseUrl, schema, serviceSecret),
  );
  if (!logins) {
    log.warn(
      { schema },
      'the database does not let this service log in as itself; it shares the login it has',
    );
    options.sharesLogin?.(schema);
  }
  const onIdleError = (error: Error) => log.warn({ err: error }, 'a database connection failed');
  return openDatabase({ url: databaseUrl, schema, logins, pool, oneUser, onIdleError, tracer, metrics });
}
