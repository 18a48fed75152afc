import type { Failure, S3Operation } from '../../support/fake-s3.ts';
import { runOn } from '../../support/sql.ts';
import type { Parts } from './parts.ts';

/** A part of the system that fails until it is restored. */
export interface Fault {
  /** For example `Redis is suspended`. */
  name: string;
  /** What `/readyz` reports meanwhile. Undefined: unready. */
  state: 'degraded' | undefined;
  begin(): Promise<void> | void;
  /** Restores the part. */
  end(): Promise<void> | void;
}

const WRITES: S3Operation[] = ['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'];

/** Tables that receive rows with every new session, message and upload. */
const GROWING = ['sessions.sessions', 'sessions.journal', 'files.versions'];

export function faultsOf(parts: Parts): Fault[] {
  const { postgres, proxy, redis, store, provider } = parts;
  let resume = () => {};
  const storeFails = (name: string, failure: Failure, fails = (_: S3Operation) => true): Fault => ({
    name,
    state: 'degraded',
    begin() {
      store.failure = (operation) => (fails(operation) ? failure : undefined);
    },
    end() {
      store.failure = () => undefined;
      store.closeConnections();
    },
  });
  const database = new URL(postgres.url).pathname.slice(1);
  const sql = (text: string) => runOn(postgres.url, text);
  return [
    { name: 'Redis is down', state: 'degraded', begin: redis.kill, end: redis.restart },
    {
      name: 'Redis is suspended',
      state: 'degraded',
      begin() {
        resume = redis.pause();
      },
      end: () => resume(),
    },
    storeFails('the object store is full', { status: 507, code: 'InsufficientCapacity' }, (operation) =>
      WRITES.includes(operation),
    ),
    storeFails('the object store is overloaded', { status: 503, code: 'SlowDown' }),
    storeFails('the object store does not respond', { status: 500, manner: 'silent' }),
    { name: 'PostgreSQL is down', state: undefined, begin: () => postgres.end('SIGKILL'), end: postgres.run },
    {
      name: 'PostgreSQL rejects connections',
      state: undefined,
      begin() {
        proxy.rejectConnections('57P03');
        proxy.cut();
      },
      end: proxy.clear,
    },
    {
      name: 'PostgreSQL does not respond to connections',
      state: undefined,
      begin() {
        proxy.rejectConnections('silent');
        proxy.cut();
      },
      end() {
        proxy.clear();
        proxy.cut();
      },
    },
    {
      name: 'PostgreSQL is read-only',
      state: undefined,
      async begin() {
        await sql(`alter database ${database} set default_transaction_read_only = on`);
        proxy.cut();
      },
      async end() {
        await sql(`begin read write; alter database ${database} reset default_transaction_read_only; commit`);
        proxy.cut();
      },
    },
    {
      name: 'PostgreSQL is full',
      state: 'degraded',
      begin: () =>
        sql(
          `create function public.refuse_rows() returns trigger language plpgsql as
             $$ begin raise exception using errcode = '53100'; end $$;
           ${GROWING.map((table) => `create trigger full_disk before insert on ${table} execute function public.refuse_rows();`).join('')}`,
        ),
      end: () =>
        sql(
          `${GROWING.map((table) => `drop trigger full_disk on ${table};`).join('')} drop function public.refuse_rows()`,
        ),
    },
    {
      name: 'the identity provider is down',
      state: 'degraded',
      begin() {
        provider.isUnavailable = true;
      },
      end() {
        provider.isUnavailable = false;
      },
    },
  ];
}
