import { type Settings, setting } from '../../lib/env.ts';

const GIB = 1024 ** 3;
const LARGEST = 1024 * 1024 * GIB;

export const settings = {
  pool: setting.integer(
    'SERVICE_FILES_POOL',
    { min: 2, max: 100, unit: 'connections' },
    {
      fallback: 8,
      about:
        'Database connections of the files service; in team mode as many more for what is done on behalf of users.',
    },
  ),
  workspaceMaxBytes: setting.integer(
    'SERVICE_WORKSPACE_MAX_BYTES',
    { min: 0, max: LARGEST, unit: 'bytes' },
    {
      fallback: 10 * GIB,
      about: 'The most that the files of one workspace may have together, as they are now.',
    },
  ),
  workspaceMaxFiles: setting.integer(
    'SERVICE_WORKSPACE_MAX_FILES',
    { min: 0, max: 10_000_000 },
    {
      fallback: 200_000,
      about: 'The most files that one workspace may hold; and again as many directories.',
    },
  ),
  fileMaxBytes: setting.integer(
    'SERVICE_FILE_MAX_BYTES',
    { min: 0, max: 64 * GIB, unit: 'bytes' },
    { fallback: 5 * GIB, about: 'The largest file.' },
  ),
  historyDays: setting.integer(
    'SERVICE_WORKSPACE_HISTORY_DAYS',
    { min: 1, max: 36_500, unit: 'days' },
    {
      fallback: 30,
      about: 'How long former versions of a workspace, and the list of its changes, are kept.',
    },
  ),
  graceSeconds: setting.integer(
    'SERVICE_FILE_GRACE_SECONDS',
    { min: 7_200, max: 31_536_000, unit: 'seconds' },
    {
      fallback: 86_400,
      about:
        'How long bytes that nothing needs are kept before they are erased. An upload may take half of that.',
    },
  ),
  scrubDays: setting.integer(
    'SERVICE_FILE_SCRUB_DAYS',
    { min: 1, max: 36_500, unit: 'days' },
    {
      fallback: 7,
      about: 'How often all stored bytes are read again to see whether they are still the right ones.',
    },
  ),
  scrubMibPerSecond: setting.integer(
    'SERVICE_FILE_SCRUB_MIB_PER_SECOND',
    { min: 0, max: 10_000, unit: 'MiB per second' },
    { fallback: 4, about: 'How fast they are read at most; 0 never reads them.' },
  ),
  quotaBytesPerUser: setting.integer(
    'SERVICE_QUOTA_BYTES_PER_USER',
    { min: 0, max: LARGEST, unit: 'bytes' },
    {
      fallback: 0,
      about:
        'The most bytes that are kept for one user in all workspaces, each content once: with former versions, and with what is ' +
        'not erased yet. 0 is no limit.',
    },
  ),
  s3Endpoint: setting.optionalUrl(
    'SERVICE_S3_ENDPOINT',
    ['http:', 'https:'],
    'An object store that speaks S3, where the bytes of files are kept. Without it, target all keeps them in SERVICE_DATA_DIR.',
  ),
  s3Bucket: setting.text('SERVICE_S3_BUCKET', {
    fallback: 'ahs-files',
    about: 'The bucket for them; it is made when it is not there. Nothing else may be in it.',
  }),
  s3Region: setting.text('SERVICE_S3_REGION', { fallback: 'us-east-1', about: 'The region of that bucket.' }),
  s3AccessKey: setting.optionalKey('SERVICE_S3_ACCESS_KEY', 'The access key of a user of the object store.'),
  s3SecretKey: setting.optionalKey('SERVICE_S3_SECRET_KEY', "That user's secret key."),
};

export type FilesConfig = Omit<
  Settings<typeof settings>,
  's3Endpoint' | 's3Bucket' | 's3Region' | 's3AccessKey' | 's3SecretKey'
>;
