/* A fit on a thread of its own that stops in its progress function for the test to act. */
#ifndef MEETING_H
#define MEETING_H

#include "model.h"

struct meeting {
    scmk_model *model;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Whether the progress function was reached, and may be left. */
    int inside, may_go;
    scmk_status status;
    double ended;
};

static inline int32_t meeting_progress(void *user, const char *step, int64_t iteration,
                                       double fraction, double objective)
{
    struct meeting *meeting = user;
    (void)step, (void)iteration, (void)fraction, (void)objective;
    pthread_mutex_lock(&meeting->lock);
    meeting->inside = 1;
    pthread_cond_broadcast(&meeting->changed);
    while (!meeting->may_go)
        pthread_cond_wait(&meeting->changed, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
    return 0;
}

static inline void *meeting_fit(void *user)
{
    struct meeting *meeting = user;
    meeting->status = scmk_fit(meeting->model);
    meeting->ended = process_clock();
    /* A fit that failed before its first report must not keep the test waiting. */
    pthread_mutex_lock(&meeting->lock);
    meeting->inside = 1;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->lock);
    return NULL;
}

/* Starts a fit; returns when it has called its progress function, in which it stays if it must. */
static inline void meet(struct meeting *meeting, scmk_model *model, int stay)
{
    memset(meeting, 0, sizeof *meeting);
    meeting->model = model;
    meeting->may_go = !stay;
    pthread_mutex_init(&meeting->lock, NULL);
    pthread_cond_init(&meeting->changed, NULL);
    OK(scmk_set_progress(model, meeting_progress, meeting));
    CHECK(pthread_create(&meeting->thread, NULL, meeting_fit, meeting) == 0);
    pthread_mutex_lock(&meeting->lock);
    while (!meeting->inside)
        pthread_cond_wait(&meeting->changed, &meeting->lock);
    pthread_mutex_unlock(&meeting->lock);
}

/* Lets the fit go on, and waits for its end. */
static inline scmk_status part(struct meeting *meeting)
{
    pthread_mutex_lock(&meeting->lock);
    meeting->may_go = 1;
    pthread_cond_broadcast(&meeting->changed);
    pthread_mutex_unlock(&meeting->lock);
    pthread_join(meeting->thread, NULL);
    pthread_cond_destroy(&meeting->changed);
    pthread_mutex_destroy(&meeting->lock);
    return meeting->status;
}

#endif
