//! How much a future grows by the number of its task. It is a program of its own: a task sets up the recorder.
#![cfg(all(feature = "std", feature = "trace"))]

#[test]
fn a_future_grows_by_six_bytes_and_stays_send() {
    fn is_send_and_sync<T: Send + Sync + 'static>(_: &T) {}
    async fn plain(byte: u8) -> u8 {
        std::future::pending::<()>().await;
        byte
    }
    async fn held(byte: u8) -> u8 {
        let task = xhist_rt::t();
        std::future::pending::<()>().await;
        xhist_rt::r(&task);
        byte
    }
    let (plain, held) = (plain(1), held(1));
    is_send_and_sync(&held);
    is_send_and_sync(&xhist_rt::t());
    assert_eq!(size_of_val(&held), size_of_val(&plain) + 6);
}
