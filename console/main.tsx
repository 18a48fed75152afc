import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api/client.ts';
import { recheckLoginOn401 } from './api/login.ts';
import { openRouter } from './app/router.tsx';
import { Toasts } from './ui/toast.tsx';
import { TooltipProvider } from './ui/tooltip.tsx';

const RETRIES = 2;
/** A longer delay before a retry is shown as an error instead. */
const MAX_RETRY_DELAY_MS = 5_000;

const retryDelayMs = (failures: number, error: Error): number =>
  (error instanceof ApiError ? error.retryAfterMs : undefined) ?? 1_000 * 2 ** failures;
const isWorthRetrying = (failures: number, error: Error): boolean =>
  error instanceof ApiError && error.retryable && retryDelayMs(failures, error) <= MAX_RETRY_DELAY_MS;

const onError = (error: unknown) => recheckLoginOn401(queries, error);

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < RETRIES && isWorthRetrying(failures, error),
      retryDelay: retryDelayMs,
    },
    // Without a network, an action fails at once. It is not sent later, when the user may no longer want it.
    mutations: { networkMode: 'always' },
  },
});

const rootElement = document.getElementById('root');
if (!rootElement) throw new Error('The page has no #root element.');
createRoot(rootElement).render(
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
