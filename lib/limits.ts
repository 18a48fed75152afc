import { setting } from './env.ts';

const MIB = 1024 * 1024;

/**
 * The longest body of a webhook, in bytes. The edge stops reading there and deployments refuses what is
 * longer; both take it from here, so that they cannot differ. It stays below what one message between
 * services may be (lib/grpc/transport.ts).
 */
export const webhookMaxBodyBytes = setting.integer(
  'SERVICE_WEBHOOK_MAX_BODY_BYTES',
  { min: 0, max: 10 * MIB, unit: 'bytes' },
  {
    fallback: 10 * MIB,
    about: 'The longest request body a webhook accepts; a longer one is answered with 413.',
  },
);
