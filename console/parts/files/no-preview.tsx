import { EyeOff } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty } from '../../ui/empty.tsx';

/** Stands where something cannot be shown; it says why. */
export function NoPreview({ children }: { children: ReactNode }) {
  return <Empty icon={<EyeOff />}>{children}</Empty>;
}
