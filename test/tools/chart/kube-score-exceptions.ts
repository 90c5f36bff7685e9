/** A test of kube-score that the chart fails on purpose. */
export interface ScoreException {
  /** The test's id in kube-score. */
  readonly test: string;
  /** The set of values to which the exception applies; all sets if absent. */
  readonly set?: string;
  readonly reason: string;
}

/** Findings that kube-score calls critical, but that the chart keeps on purpose. */
export const scoreExceptions: readonly ScoreException[] = [
  {
    test: 'container-image-pull-policy',
    reason: 'Tags of releases do not move, and digests cannot; Always would make every start depend on the registry.',
  },
  {
    test: 'container-security-context-user-group-id',
    set: 'openshift',
    reason: 'OpenShift chooses user and group by the namespace; the set takes ours away for that.',
  },
  {
    test: 'pod-probes',
    set: 'external-monitoring',
    reason:
      "The Service for the ServiceMonitor selects the test's pod too, which has no port to probe; the other sets have the same Deployments.",
  },
];
