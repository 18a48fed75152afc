import { EyeOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../../ui/empty-state.tsx';

/** Shown in place of a preview with the reason. */
export function NoPreview({ children }: { children: ReactNode }) {
  return <EmptyState icon={<EyeOff />}>{children}</EmptyState>;
}
