export const LIFETIMES = [
  { value: '7', text: '7 days' },
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: '1 year' },
  { value: 'never', text: 'No expiration' },
] as const;

export type Lifetime = (typeof LIFETIMES)[number]['value'];

/** The member of the request that creates a token with this lifetime. */
export const expiryOf = (lifetime: Lifetime): { expires_in_days?: number } =>
  lifetime === 'never' ? {} : { expires_in_days: Number(lifetime) };
