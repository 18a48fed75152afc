import { setting } from '../../../lib/env.ts';

/** The settings of the key-encryption keys beside SERVICE_SEALING_KEY. */
export const keySettings = {
  kmsSocket: setting.optionalSocket(
    'SERVICE_KMS_SOCKET',
    'Unix socket of a KMS v2 plugin of Kubernetes, which then wraps the data keys of vaults. Unset: SERVICE_SEALING_KEY ' +
      'wraps them. Data keys that were wrapped before still open with SERVICE_SEALING_KEY. See docs/how-to/kms.md.',
  ),
  kmsTimeoutSeconds: setting.integer(
    'SERVICE_KMS_TIMEOUT_SECONDS',
    { min: 1, max: 60 },
    {
      about:
        'Seconds that a call to the KMS plugin may take. Operations that need its key fail with VAULT_SEALED afterwards.',
      fallback: 5,
    },
  ),
};
