/**
 * Server settings for this service: durable commits, many short statements, few connections and a small machine. They
 * are passed on the command line, so that no file in the data directory has to change with a release.
 */
export const SETTINGS: Readonly<Record<string, string>> = {
  cluster_name: 'agent-hosting-service',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',

  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  shared_buffers: '128MB',
  huge_pages: 'off',
  wal_buffers: '16MB',
  // Enough for a base backup of the running server; less would save next to nothing.
  wal_level: 'replica',
  min_wal_size: '128MB',
  max_wal_size: '1GB',
  checkpoint_timeout: '10min',

  // The data usually fits in memory, so I/O workers, parallel plans and compiled plans have no benefit.
  io_method: 'sync',
  random_page_cost: '1.1',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  // Queue tables are small and change constantly.
  autovacuum_naptime: '15s',

  // A statement whose client has died ends within a second.
  client_connection_check_interval: '1s',

  // Statements and values can contain user content, so neither is logged.
  logging_collector: 'off',
  log_destination: 'stderr',
  log_line_prefix: '%m [%p] ',
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Returns `-c name=value …`. Later settings override earlier ones. */
export function asArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
