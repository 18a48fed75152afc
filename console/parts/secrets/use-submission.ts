import { useState } from 'react';

/**
 * Runs one request at a time. Its body is in no cache and no state, because it can contain a secret. Returns the error of the
 * last request.
 */
export function useSubmission() {
  const [state, setState] = useState<{ isPending: boolean; error: unknown }>({
    isPending: false,
    error: undefined,
  });
  async function submit(run: () => Promise<unknown>): Promise<void> {
    if (state.isPending) return;
    setState({ isPending: true, error: undefined });
    try {
      await run();
      setState({ isPending: false, error: undefined });
    } catch (error) {
      setState({ isPending: false, error });
    }
  }
  return { ...state, submit };
}
