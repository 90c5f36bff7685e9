/** A test of kube-score that the chart fails on purpose. */
export interface ScoreException {
  /** The id, as kube-score has it. */
  readonly test: string;
  /** The set of values for which it holds; all where it is not named. */
  readonly set?: string;
  readonly reason: string;
}

/** What kube-score calls critical and the chart does all the same. */
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
      "The Service for the ServiceMonitor selects the test's pod too, which has no port to probe; a rule of ours looks at the Deployments.",
  },
];

/** kube-score has a switch of its own for limits of CPU: a request and no limit, see ADR 0006. Limits of memory count. */
export const scoreSwitches: readonly string[] = ['--ignore-container-cpu-limit'];
