import { type Settings, setting } from '../../lib/env.ts';
import { fileMaxBytes, workspaceMaxBytes, workspaceMaxFiles } from '../../lib/limits.ts';

const GIB = 1024 ** 3;
const LARGEST = 1024 * 1024 * GIB;

export const settings = {
  pool: setting.integer(
    'SERVICE_FILES_POOL',
    { min: 2, max: 100, unit: 'connections' },
    {
      fallback: 8,
      about:
        'Database connections of the files service. Team mode opens a second pool of the same size for requests on behalf of users.',
    },
  ),
  workspaceMaxBytes,
  workspaceMaxFiles,
  fileMaxBytes,
  historyDays: setting.integer(
    'SERVICE_WORKSPACE_HISTORY_DAYS',
    { min: 1, max: 36_500, unit: 'days' },
    {
      fallback: 30,
      about: 'Retention of former workspace versions and of the list of changes, in days.',
    },
  ),
  graceSeconds: setting.integer(
    'SERVICE_FILE_GRACE_SECONDS',
    { min: 7_200, max: 31_536_000, unit: 'seconds' },
    {
      fallback: 86_400,
      about:
        'Time in seconds before unreferenced bytes are erased. An upload must finish within half of this time.',
    },
  ),
  scrubDays: setting.integer(
    'SERVICE_FILE_SCRUB_DAYS',
    { min: 1, max: 36_500, unit: 'days' },
    {
      fallback: 7,
      about: 'Period in days in which all stored bytes are read once to verify their checksums.',
    },
  ),
  scrubMibPerSecond: setting.integer(
    'SERVICE_FILE_SCRUB_MIB_PER_SECOND',
    { min: 0, max: 10_000, unit: 'MiB per second' },
    { fallback: 4, about: 'Maximum rate of that verification in MiB per second; 0 turns it off.' },
  ),
  quotaBytesPerUser: setting.integer(
    'SERVICE_QUOTA_BYTES_PER_USER',
    { min: 0, max: LARGEST, unit: 'bytes' },
    {
      fallback: 0,
      about:
        'Limit for the stored bytes of one user over all workspaces. Each content counts once; former versions and deleted ' +
        'files that are not erased yet count, too. 0 means no limit.',
    },
  ),
  s3Endpoint: setting.optionalUrl(
    'SERVICE_S3_ENDPOINT',
    ['http:', 'https:'],
    'URL of an S3-compatible object store for the bytes of files. Without it, the target `all` stores them in SERVICE_DATA_DIR.',
  ),
  s3Bucket: setting.text('SERVICE_S3_BUCKET', {
    fallback: 'ahs-files',
    about:
      'Bucket for the bytes of files. It is created if it does not exist and must not hold other objects.',
  }),
  s3Region: setting.text('SERVICE_S3_REGION', { fallback: 'us-east-1', about: 'Region of the bucket.' }),
  s3AccessKey: setting.optionalKey('SERVICE_S3_ACCESS_KEY', 'Access key for the object store.'),
  s3SecretKey: setting.optionalKey('SERVICE_S3_SECRET_KEY', 'Secret key for the object store.'),
};

export type FilesConfig = Omit<
  Settings<typeof settings>,
  's3Endpoint' | 's3Bucket' | 's3Region' | 's3AccessKey' | 's3SecretKey'
>;
