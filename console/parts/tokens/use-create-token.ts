import { useMutation, useQueryClient } from '@tanstack/react-query';
import { tokens } from '../../api/tokens.ts';
import { useIdempotencyKeys } from '../actions/idempotency-key.ts';

export const VALUE_LOST =
  'The token was created, but its value was lost. Delete the token and create another one.';

/** Creates a token. Only `onCreated` receives the value; the mutation result says only whether the value was lost. */
export function useCreateToken(onCreated: (value: string) => void) {
  const queries = useQueryClient();
  const { keyFor, renew } = useIdempotencyKeys();
  return useMutation({
    gcTime: 0,
    mutationFn: async (body: Parameters<typeof tokens.create>[0]): Promise<{ isLost: boolean }> => {
      const { value } = await tokens.create(body, keyFor(body));
      renew();
      if (value !== null) onCreated(value);
      return { isLost: value === null };
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens'] }),
  });
}
