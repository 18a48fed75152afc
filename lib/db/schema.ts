import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { type Database, openDatabase } from './database.ts';
import { createLogins } from './logins.ts';
import { migrate } from './migrations.ts';

interface SchemaOptions {
  databaseUrl: string;
  /** The secret from which the passwords of the service's roles are derived. */
  serviceSecret: string;
  log: Log;
  tracer: Tracer;
  metrics: Metrics;
  /** The schema that the service owns. */
  schema: string;
  /** The folder of its migrations. */
  migrations: URL;
  /** The maximum number of connections of the service. The viewer role has a second pool of the same size. */
  pool: number;
  /** Local mode: no row has to be hidden. */
  singleUser?: boolean | undefined;
  /** Called when the service cannot log in with its own role. */
  onSharedLogin?: ((schema: string) => void) | undefined;
}

/** Migrates a service's schema and connects to it with roles that own nothing in it. */
export async function openSchema(options: SchemaOptions): Promise<Database> {
  const { databaseUrl, serviceSecret, log, tracer, metrics, schema, pool, singleUser } = options;
  const logins = await migrate(databaseUrl, schema, options.migrations, (client) =>
    createLogins(client, databaseUrl, schema, serviceSecret),
  );
  if (!logins) {
    log.warn(
      { schema },
      'the database rejects the login role of this service; the service uses the login of SERVICE_DATABASE_URL',
    );
    options.onSharedLogin?.(schema);
  }
  const onIdleError = (error: Error) => log.warn({ err: error }, 'a database connection failed');
  return openDatabase({
    url: databaseUrl,
    schema,
    logins,
    pool,
    singleUser,
    onIdleError,
    tracer,
    metrics,
  });
}
