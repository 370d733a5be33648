// A member of a consumer group with franz-go, which commits by itself what has been reported, until SIGTERM: then it
// commits and leaves. Prints a JSON object a line, as e2e/src/groups/member-report.ts reads it.
//
//	group_member BOOTSTRAP GROUP TOPIC SESSION_TIMEOUT_MS
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	heartbeatInterval = 500 * time.Millisecond
	commitInterval    = 500 * time.Millisecond
	retryBackoff      = 200 * time.Millisecond
)

func main() {
	bootstrap, group, topic := os.Args[1], os.Args[2], os.Args[3]
	sessionTimeoutMs, err := strconv.Atoi(os.Args[4])
	if err != nil {
		fail(err)
	}
	stopping, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	owned := &ownership{topic: topic, held: map[int32]bool{}}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(time.Duration(sessionTimeoutMs)*time.Millisecond),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.AutoCommitInterval(commitInterval),
		kgo.AutoCommitCallback(committed),
		kgo.RetryBackoffFn(func(int) time.Duration { return retryBackoff }),
		// Callbacks come between two polls, so that what they see is what has been reported.
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(owned.more),
		kgo.OnPartitionsRevoked(owned.revoked),
		kgo.OnPartitionsLost(owned.lost),
	)
	if err != nil {
		fail(err)
	}
	for stopping.Err() == nil {
		fetches := client.PollFetches(stopping)
		fetches.EachError(func(_ string, partition int32, err error) {
			fmt.Fprintf(os.Stderr, "partition %d: %v\n", partition, err)
		})
		fetches.EachRecord(func(record *kgo.Record) {
			say("processed", map[string]any{"partition": record.Partition, "offset": record.Offset, "value": string(record.Value)})
		})
		client.AllowRebalance()
	}
	client.CloseAllowingRebalance()
}

// Which partitions this member has: it is told of changes only. Callbacks never overlap.
type ownership struct {
	topic string
	held  map[int32]bool
}

func (o *ownership) more(_ context.Context, client *kgo.Client, assigned map[string][]int32) {
	for _, partition := range assigned[o.topic] {
		o.held[partition] = true
	}
	_, generation := client.GroupMetadata()
	say("owns", map[string]any{"generationId": generation, "partitions": append([]int32{}, slices.Sorted(maps.Keys(o.held))...)})
}

// Who handles revocations commits in place of the client.
func (o *ownership) revoked(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
	offsets := client.UncommittedOffsets()
	if len(offsets) > 0 {
		client.CommitOffsetsSync(ctx, offsets, committed)
	}
	o.lost(ctx, client, partitions)
}

func (o *ownership) lost(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	if len(partitions[o.topic]) == 0 {
		return
	}
	for _, partition := range partitions[o.topic] {
		delete(o.held, partition)
	}
	say("gaveUp", map[string]any{"partitions": partitions[o.topic]})
}

func committed(_ *kgo.Client, request *kmsg.OffsetCommitRequest, response *kmsg.OffsetCommitResponse, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "commit:", err)
		return
	}
	refused := map[int32]bool{}
	for _, topic := range response.Topics {
		for _, partition := range topic.Partitions {
			if err := kerr.ErrorForCode(partition.ErrorCode); err != nil {
				fmt.Fprintf(os.Stderr, "commit of partition %d: %v\n", partition.Partition, err)
				refused[partition.Partition] = true
			}
		}
	}
	offsets := [][2]int64{}
	for _, topic := range request.Topics {
		for _, partition := range topic.Partitions {
			if !refused[partition.Partition] {
				offsets = append(offsets, [2]int64{int64(partition.Partition), partition.Offset})
			}
		}
	}
	if len(offsets) > 0 {
		say("committed", map[string]any{"offsets": offsets})
	}
}

func say(kind string, more map[string]any) {
	more["atMs"] = time.Now().UnixMilli()
	more["kind"] = kind
	line, err := json.Marshal(more)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(line))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
