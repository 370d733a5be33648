/**
 * The Kafka error codes that a group's answers carry: protocol outcomes, so values and never exceptions.
 * The codec has the whole table; this one keeps the package free of imports.
 */
export const groupErrorCodes = {
  none: 0,
  offsetMetadataTooLarge: 12,
  coordinatorLoadInProgress: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  illegalGeneration: 22,
  inconsistentGroupProtocol: 23,
  invalidGroupId: 24,
  unknownMemberId: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  nonEmptyGroup: 68,
  groupIdNotFound: 69,
  memberIdRequired: 79,
  groupMaxSizeReached: 81,
  fencedInstanceId: 82,
  groupSubscribedToTopic: 86,
} as const
