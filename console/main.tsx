import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { noticeLogout } from './api/login.ts';
import { openRouter } from './app/router.tsx';
import { Toasts } from './ui/toast.tsx';
import { TooltipProvider } from './ui/tooltip.tsx';

const RETRIES = 2;
/** Nobody waits longer without a word of what they are waiting for. */
const LONGEST_WAIT_MS = 5_000;

const waitMs = (failures: number, error: Error): number =>
  (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 1_000 * 2 ** failures;
const isWorthIt = (failures: number, error: Error): boolean =>
  error instanceof ApiError && error.retryable && waitMs(failures, error) <= LONGEST_WAIT_MS;

const onError = (error: unknown) => noticeLogout(queries, error);

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && isWorthIt(failures, error),
      retryDelay: waitMs,
    },
  },
});

const place = document.getElementById('root');
if (!place) throw new Error('the page has no place for the console');
createRoot(place).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <TooltipProvider>
          <Toasts>
            <RouterProvider router={openRouter(queries)} />
          </Toasts>
        </TooltipProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
