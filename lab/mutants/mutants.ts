// All mutants.
import { accessMutants } from './access.ts';
import { billingMutants } from './billing.ts';
import { deliveryMutants } from './deliveries.ts';
import { documentMutants } from './documents.ts';
import { ledgerMutants } from './ledger.ts';
import type { Mutant } from './mutant.ts';
import { prepaidMutants } from './prepaid.ts';
import { recordMutants } from './records.ts';

export const mutants: readonly Mutant[] = [
  ...recordMutants,
  ...accessMutants,
  ...documentMutants,
  ...deliveryMutants,
  ...billingMutants,
  ...ledgerMutants,
  ...prepaidMutants,
];
